// SPDX-License-Identifier: MIT

/// An authentication challenge from `WWW-Authenticate`: a scheme and its parameters (RFC 9110 §11.6.1).
///
///     let fields = response.headers[values: .wwwAuthenticate]
///     for challenge in HTTPChallenge.list(fields) where challenge.scheme == "digest" {
///         challenge["realm"]
///     }
package struct HTTPChallenge: Hashable, Sendable {
    /// The authentication scheme, in lower case: `basic`, `bearer`, `digest`.
    package let scheme: String
    /// The parameters in order, with names in lower case. If a name repeats, the subscript returns the first value.
    package let parameters: [Parameter]
    /// The token68 value that some schemes use instead of parameters; nil if there is none.
    package let token: String?

    /// A parameter of a challenge.
    package struct Parameter: Hashable, Sendable {
        /// The name of the parameter, in lower case.
        package let name: String
        /// The value of the parameter, without quotes and escapes.
        package let value: String
    }

    /// The maximum number of parameters that are read for a challenge.
    static let parameterLimit = 64

    /// The value of the named parameter; nil if there is none. The name must be in lower case.
    package subscript(name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }

    /// Returns the challenges in all given field values, in order. The rest of a value after a malformed part is
    /// ignored.
    package static func list(_ fields: [String]) -> [HTTPChallenge] {
        fields.flatMap { field in
            var reader = FieldReader(field)
            return reader.challenges()
        }
    }

    /// Returns the parameters of a field value that consists of parameters only, such as `Authentication-Info` (RFC
    /// 7615).
    package static func parameters(of field: String) -> [Parameter] {
        var reader = FieldReader(field)
        return reader.challengeParameters()
    }
}

extension FieldReader {
    /// Reads all challenges. Commas separate both challenges and their parameters: a name without `=` begins the next
    /// challenge.
    fileprivate mutating func challenges() -> [HTTPChallenge] {
        var found: [HTTPChallenge] = []
        while true {
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
    }

    /// Reads parameters until the next challenge or the end.
    fileprivate mutating func challengeParameters() -> [HTTPChallenge.Parameter] {
        var found: [HTTPChallenge.Parameter] = []
        while found.count < HTTPChallenge.parameterLimit {
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
            found.append(HTTPChallenge.Parameter(name: ASCII.lowercased(name), value: value))
            skipBlanks()
        }
        return found
    }

    /// Reads a token68 value, up to a comma or the end: `1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="`.
    private mutating func token68() -> String? {
        let text = rest.prefix { $0 != 0x2C }
        rest = rest[text.endIndex...]
        let trimmed = Substring(text).parts(" ")
        guard trimmed.count == 1, let only = trimmed.first else { return nil }
        let set = ByteSet.unreserved.union("+/=")
        return only.utf8.allSatisfy(set.contains) ? String(only) : nil
    }

    private mutating func skipCommas() {
        skipBlanks()
        while take(0x2C) { skipBlanks() }
    }
}
