// SPDX-License-Identifier: MIT

/// A media type or media range with its parameters (RFC 9110 §8.3.1 and §12.5.1).
public struct MediaType: Hashable, Sendable {
    /// The part before the slash, in lower case; `*` in a range.
    public let type: String
    /// The part after the slash, in lower case; `*` in a range.
    public let subtype: String
    /// The parameters in order.
    public let parameters: [Parameter]

    /// One parameter: a name in lower case and a value as meant, without quotes.
    public struct Parameter: Hashable, Sendable {
        /// The name, in lower case.
        public let name: String
        /// The value, unquoted.
        public let value: String

        /// A parameter; the name is put in lower case.
        public init(name: String, value: String) {
            self.name = ASCII.lowercased(name)
            self.value = value
        }
    }

    /// A media type from its parts, which are not checked: a header refuses what cannot be sent.
    public init(type: String, subtype: String, parameters: [Parameter] = []) {
        self.type = ASCII.lowercased(type)
        self.subtype = ASCII.lowercased(subtype)
        self.parameters = parameters
    }

    /// Reads a `Content-Type` value or one member of `Accept`.
    ///
    /// Fails unless type and subtype are tokens and only parameters follow. A parameter that is malformed is skipped,
    /// as browsers do, so that a careless charset does not hide the type.
    public init?(_ string: String) {
        var reader = FieldReader(string)
        guard let (type, subtype) = reader.essence() else { return nil }
        self.init(type: type, subtype: subtype, parameters: reader.parameters())
    }

    /// Type and subtype alone: "application/json".
    public var essence: String { "\(type)/\(subtype)" }

    /// The value of the named parameter; the first if it repeats.
    public subscript(parameter name: String) -> String? {
        parameters.first { ASCII.equalIgnoringCase($0.name, name) }?.value
    }

    /// The charset parameter in lower case.
    public var charset: String? { self[parameter: "charset"].map(ASCII.lowercased) }

    /// Whether the content is JSON: `application/json`, `text/json` or any type with the suffix `+json` (RFC 6839).
    public var isJSON: Bool {
        subtype.ends(with: "+json") || (subtype == "json" && (type == "application" || type == "text"))
    }

    /// Whether the range covers this type.
    ///
    /// `*/*` covers everything, `text/*` every text type. Parameters of the range must be present here, except the
    /// weight `q`, which is not a parameter of the type.
    public func matches(_ range: MediaType) -> Bool {
        guard range.type == "*" || range.type == type else { return false }
        guard range.subtype == "*" || range.subtype == subtype else { return false }
        return range.parameters.allSatisfy { wanted in
            if wanted.name == "q" { return true }
            guard let value = self[parameter: wanted.name] else { return false }
            return wanted.name == "charset" ? ASCII.equalIgnoringCase(value, wanted.value) : value == wanted.value
        }
    }
}

extension MediaType: CustomStringConvertible {
    /// The type as it goes in a header; parameter values are quoted where they are no tokens.
    public var description: String {
        var text = essence
        for parameter in parameters {
            text += "; \(parameter.name)="
            if ASCII.isToken(parameter.value) {
                text += parameter.value
            } else {
                text += "\""
                for character in parameter.value.unicodeScalars {
                    if character == "\"" || character == "\\" { text += "\\" }
                    text.unicodeScalars.append(character)
                }
                text += "\""
            }
        }
        return text
    }
}

extension MediaType {
    /// `application/json`.
    public static let json = MediaType(type: "application", subtype: "json")
    /// `application/problem+json` (RFC 9457).
    public static let problemJSON = MediaType(type: "application", subtype: "problem+json")
    /// `application/x-www-form-urlencoded`.
    public static let form = MediaType(type: "application", subtype: "x-www-form-urlencoded")
    /// `multipart/form-data` (RFC 7578); the boundary is added by the form.
    public static let multipartFormData = MediaType(type: "multipart", subtype: "form-data")
    /// `text/plain; charset=utf-8`.
    public static let text = MediaType(
        type: "text", subtype: "plain", parameters: [Parameter(name: "charset", value: "utf-8")])
    /// `application/octet-stream`: bytes of no known type.
    public static let octetStream = MediaType(type: "application", subtype: "octet-stream")
    /// `text/html`.
    public static let html = MediaType(type: "text", subtype: "html")
    /// `application/xml`.
    public static let xml = MediaType(type: "application", subtype: "xml")
    /// `text/event-stream`: server-sent events.
    public static let eventStream = MediaType(type: "text", subtype: "event-stream")
    /// `application/jsonl`: one JSON value a line.
    public static let jsonLines = MediaType(type: "application", subtype: "jsonl")
    /// `*/*`: the range that covers every type.
    public static let any = MediaType(type: "*", subtype: "*")
}
