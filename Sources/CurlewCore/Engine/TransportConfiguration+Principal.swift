// SPDX-License-Identifier: MIT

package import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension TransportConfiguration {
    /// As whom a transport with this configuration shows itself to the server of `request`, and which server that is if
    /// not the one that its host names. `.anonymous` for one that does neither.
    ///
    /// A client certificate is told apart by its bytes; one in a file by the path and what the system says of the file.
    package func principal(of request: HTTPRequest, in context: ExchangeContext) -> Principal {
        guard unixSocket != nil || tls.identity != nil || !dns.overrides.isEmpty else { return .anonymous }
        let origin = request.origin
        var parts: [String] = []
        if let unixSocket {
            parts += ["socket", unixSocket]
        } else if let line = dns.override(for: origin)?.line {
            parts += ["address", line]
        }
        if origin.isSecure, let identity = tls.identity, identity.isMeant(for: origin.host) {
            guard let mark = identity.mark else { return .unknown }
            parts += ["identity"] + mark
        }
        return parts.isEmpty ? .anonymous : .holder(of: parts, in: context)
    }
}

extension DNSConfiguration {
    /// The place that counts for an origin: the first that fits.
    package func override(for origin: Origin) -> Override? {
        guard !overrides.isEmpty else { return nil }
        return overrides.first { each in
            Origin(scheme: "http", host: each.host, port: 80)?.host == origin.host
                && (each.port == nil || each.port == origin.port)
        }
    }
}

extension ClientIdentity {
    /// What tells it from others; nil for a file that cannot be seen.
    fileprivate var mark: [String]? {
        switch source {
        case .pem(let certificate, _): [MessageDigest.sha256(certificate).hexText]
        case .pkcs12(let archive): [MessageDigest.sha256(archive).hexText]
        case .pemFiles(let path, _), .pkcs12File(let path): Self.facts(of: path)
        }
    }

    private static func facts(of path: String) -> [String]? {
        guard let facts = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
        let (size, changed) = (facts[.size], facts[.modificationDate] as? Date)
        return [path, "\(size ?? "")", "\(changed?.timeIntervalSince1970 ?? 0)"]
    }
}
