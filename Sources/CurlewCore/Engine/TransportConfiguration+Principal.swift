// SPDX-License-Identifier: MIT

import CurlewFoundation
package import CurlewHTTP

extension TransportConfiguration {
    /// Returns the principal that a transport with this configuration adds to `request`. It is determined by the client
    /// identity, and by the Unix socket or the override that replaces the host of the request. Returns `.anonymous` if
    /// none of them applies, and `.unknown` if the file of a certificate cannot be accessed.
    ///
    /// A client certificate is identified by its bytes, one in a file by its path and the attributes of the file.
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

extension TransportConfiguration.DNS {
    /// Returns the host and the port to which a transport connects for `origin`: its own, unless an override matches.
    package func target(of origin: Origin) -> (host: String, port: Int) {
        let override = override(for: origin)
        let host = override.flatMap { Origin(scheme: "http", host: $0.target, port: 80)?.host }
        return (host ?? origin.host, override?.targetPort ?? origin.port)
    }

    /// Returns the first override that matches `origin`; nil if there is none.
    fileprivate func override(for origin: Origin) -> Override? {
        guard !overrides.isEmpty else { return nil }
        return overrides.first { each in
            Origin(scheme: "http", host: each.host, port: 80)?.host == origin.host
                && (each.port == nil || each.port == origin.port)
        }
    }
}

extension TransportConfiguration.TLS.ClientIdentity {
    /// The strings that identify the certificate; nil for a file that cannot be accessed.
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
