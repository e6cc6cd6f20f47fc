// SPDX-License-Identifier: MIT

/// What a server asks for in `WWW-Authenticate`: a scheme and its parameters (RFC 9110 §11.6.1).
///
///     for challenge in HTTPChallenge.list(response.headers[values: .wwwAuthenticate]) where challenge.scheme == "digest" {
///         challenge["realm"]
///     }
public struct HTTPChallenge: Hashable, Sendable {
    /// In lower case: `basic`, `bearer`, `digest`.
    public let scheme: String
    /// Names in lower case, in order. Of a name that repeats the first counts.
    public let parameters: [Parameter]
    /// What some schemes have in place of parameters.
    public let token: String?

    /// One parameter of a challenge.
    public struct Parameter: Hashable, Sendable {
        /// In lower case.
        public let name: String
        /// Without quotes and escapes.
        public let value: String
    }

    /// More than this is not read.
    static let parameterLimit = 64

    /// The value of a parameter, by its name in lower case.
    public subscript(name: String) -> String? {
        parameters.first { $0.name == name }?.value
    }

    /// The challenges of all fields of a message, in order. What cannot be read ends the field it is in.
    public static func list(_ fields: [String]) -> [HTTPChallenge] {
        fields.flatMap { field in
            var reader = FieldReader(field)
            return reader.challenges()
        }
    }

    /// The parameters of a field that holds nothing else, such as `Authentication-Info` (RFC 7615).
    public static func parameters(of field: String) -> [Parameter] {
        var reader = FieldReader(field)
        return reader.challengeParameters()
    }
}

extension FieldReader {
    /// Challenges and their parameters are separated by the same comma: a name without `=` begins the next challenge.
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

    /// As many as there are; stands at the next challenge, or at the end, afterwards.
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

    /// `1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="`, up to a comma or the end.
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
