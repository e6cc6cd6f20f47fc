// SPDX-License-Identifier: MIT

import CurlewHTTP

/// An authentication challenge from `WWW-Authenticate`: a scheme and its parameters (RFC 9110 §11.6.1).
///
///     let fields = response.headers[values: .wwwAuthenticate]
///     for challenge in HTTPChallenge.list(fields) where challenge.scheme == "digest" {
///         challenge["realm"]
///     }
struct HTTPChallenge: Hashable, Sendable {
    /// The authentication scheme, in lower case: `basic`, `bearer`, `digest`.
    let scheme: String
    /// The parameters in order, with names in lower case. If a name repeats, the subscript returns the first value.
    let parameters: [Parameter]
    /// The token68 value that some schemes use instead of parameters; nil if there is none.
    let token: String?

    struct Parameter: Hashable, Sendable {
        /// The name of the parameter, in lower case.
        let name: String
        /// The value of the parameter, without quotes and escapes.
        let value: String
    }

    /// The maximum number of parameters of a challenge. Further ones are ignored.
    static let parameterLimit = 64
    /// The maximum number of challenges of all field values together. Further ones are ignored.
    static let challengeLimit = 64

    /// The value of the named parameter; nil if there is none. The name must be in lower case.
    subscript(name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }

    /// Returns the challenges in all given field values, in order. The rest of a value after a malformed part is
    /// ignored.
    static func list(_ fields: [String]) -> [HTTPChallenge] {
        var found: [HTTPChallenge] = []
        for field in fields {
            var reader = FieldReader(field)
            found += reader.challenges(upTo: challengeLimit - found.count)
        }
        return found
    }

    /// Returns the parameters of a field value that consists of parameters only, such as `Authentication-Info` (RFC
    /// 7615).
    static func parameters(of field: String) -> [Parameter] {
        var reader = FieldReader(field)
        return reader.challengeParameters()
    }
}

extension FieldReader {
    /// Reads challenges up to a number. Commas separate both challenges and their parameters: a name without `=` begins the next
    /// challenge.
    fileprivate mutating func challenges(upTo limit: Int) -> [HTTPChallenge] {
        var found: [HTTPChallenge] = []
        while found.count < limit {
            skipCommas()
            guard let scheme = token() else { return found }
            skipBlanks()
            let start = self
            let parameters = challengeParameters()
            var text: String?
            if parameters.isEmpty {
                self = start
                text = token68()
            }
            found.append(HTTPChallenge(scheme: ASCII.lowercased(scheme), parameters: parameters, token: text))
        }
        return found
    }

    /// Reads parameters until the next challenge or the end. Those over the limit are parsed and left out, because they
    /// would otherwise be taken for challenges.
    fileprivate mutating func challengeParameters() -> [HTTPChallenge.Parameter] {
        var found: [HTTPChallenge.Parameter] = []
        while true {
            let start = self
            skipCommas()
            guard let name = token() else { return found }
            skipBlanks()
            guard take(0x3D) else {
                self = start
                return found
            }
            skipBlanks()
            guard let value = quotedString() ?? token() else {
                self = start
                return found
            }
            if found.count < HTTPChallenge.parameterLimit {
                found.append(HTTPChallenge.Parameter(name: ASCII.lowercased(name), value: value))
            }
            skipBlanks()
        }
    }

    /// Reads a token68 value, up to a comma or the end: `1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="`.
    private mutating func token68() -> String? {
        let text = remainder.prefix { $0 != 0x2C }
        remainder = remainder[text.endIndex...]
        let trimmed = Substring(text).parts(" ")
        guard trimmed.count == 1, let only = trimmed.first else { return nil }
        let isToken68 = only.utf8.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || "-._~+/=".utf8.contains($0) }
        return isToken68 ? String(only) : nil
    }

    private mutating func skipCommas() {
        skipBlanks()
        while take(0x2C) { skipBlanks() }
    }
}
