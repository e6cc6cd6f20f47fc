// SPDX-License-Identifier: MIT

/// A machine-readable error response of an HTTP API (RFC 9457).
///
/// Decoding follows §3.1: a member of the wrong type is ignored. Extension members are not kept; decode them with your
/// own type.
public struct ProblemDetails: Hashable, Sendable {
    /// The URI that identifies the problem type; "about:blank" if the response names none.
    public var type: String
    /// A short, human-readable summary of the problem type.
    public var title: String?
    /// The status code that the origin generated. Advisory: the status of the response takes precedence.
    public var status: Int?
    /// A human-readable explanation of this occurrence of the problem.
    public var detail: String?
    /// The URI that identifies this occurrence of the problem.
    public var instance: String?

    /// The media type of problem details in JSON: `application/problem+json`.
    public static let mediaType = MediaType(type: "application", subtype: "problem+json")

    /// Creates problem details from their members.
    public init(
        type: String = "about:blank", title: String? = nil, status: Int? = nil, detail: String? = nil,
        instance: String? = nil
    ) {
        self.type = type
        self.title = title
        self.status = status
        self.detail = detail
        self.instance = instance
    }
}

extension ProblemDetails: Codable {
    private enum CodingKeys: String, CodingKey {
        case type, title, status, detail, instance
    }

    /// Decodes problem details from any JSON object. Throws only if the value is not an object.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func member<Value: Decodable>(_ key: CodingKeys, _: Value.Type) -> Value? {
            try? members.decodeIfPresent(Value.self, forKey: key)
        }
        self.init(
            type: member(.type, String.self) ?? "about:blank", title: member(.title, String.self),
            status: member(.status, Int.self), detail: member(.detail, String.self),
            instance: member(.instance, String.self))
    }
}
