// SPDX-License-Identifier: MIT

/// A machine-readable error of an HTTP API (RFC 9457).
///
/// Decoding follows §3.1: a member of the wrong type is ignored, as if it were absent. Members that the RFC does not
/// define are not kept; decode them with a type of your own.
public struct ProblemDetails: Hashable, Sendable {
    /// Identifies the problem type by URI; "about:blank" when absent.
    public var type: String
    /// A short summary of the problem type.
    public var title: String?
    /// The status code that the origin used. Advisory: the response's own status decides.
    public var status: Int?
    /// What happened this time, for a person.
    public var detail: String?
    /// Identifies this occurrence by URI.
    public var instance: String?

    /// `application/problem+json`.
    public static let mediaType = MediaType.problemJSON

    /// A problem from its members.
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

    /// Decodes any JSON object; fails only if the value is none.
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
