// SPDX-License-Identifier: MIT

/// A URI template (RFC 6570, all four levels): a URL with variables, as API descriptions and responses contain it.
///
///     let template: URITemplate = "/repos/{owner}/{repo}/issues{?state,labels*}"
///     let text = try template.expand(["owner": "ann", "repo": "kite", "labels": ["bug", "ui"]])
///     // /repos/ann/kite/issues?labels=bug&labels=ui
///
/// A template is parsed once, when it is created. A literal never traps: if it is malformed, `problem` has the reason,
/// and each expansion throws it. For text from outside the program, use the throwing initializer, or decode the
/// template from a response as text. At most 8,192 bytes are accepted.
///
/// `expand` returns what the RFC defines, also if the values contain dot segments or, for `{+name}` and `{#name}`,
/// slashes. `RequestPath(expanding:_:)` and `url(_:)` expand a template for a request and refuse such values.
public struct URITemplate: Sendable, Hashable {
    /// The reason why a text is not a template, or why values cannot be used for a template.
    public struct SyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The problem, without any value.
        public let message: String
        /// The position in the template, in bytes of UTF-8 from its beginning.
        public let position: Int

        /// The problem and its position.
        public var description: String { "\(message) (at byte \(position) of the URI template)" }
    }

    /// A part of a template.
    package enum Part: Sendable, Hashable {
        /// Text that is copied, percent-encoded where necessary.
        case literal(String)
        case expression(Expression)
    }

    /// Variables between braces, with the operator that determines how they are expanded.
    package struct Expression: Sendable, Hashable {
        package let kind: Kind
        package let variables: [Variable]
        /// The position of the opening brace.
        package let position: Int
    }

    /// The operator of an expression.
    package enum Kind: UInt8, Sendable, CaseIterable {
        case simple = 0
        case reserved = 0x2B
        case fragment = 0x23
        case label = 0x2E
        case segments = 0x2F
        case parameters = 0x3B
        case query = 0x3F
        case continuation = 0x26
    }

    /// A variable of an expression, with its modifier.
    package struct Variable: Sendable, Hashable {
        package let name: String
        /// Whether each element of a list is expanded as if it were a variable: `{name*}`.
        package var isExploded = false
        /// The maximum number of characters: `{name:3}`; nil without a prefix modifier.
        package var prefix: Int?
    }

    /// The template as it was written.
    public let text: String
    /// The reason why the template is malformed; nil if it is valid.
    public let problem: SyntaxError?
    package let parts: [Part]

    /// The maximum length of a template, in bytes.
    static let mostBytes = 8192

    /// Parses a template. Throws `SyntaxError` with the position for text that violates the grammar of RFC 6570 §2.
    public init(_ text: String) throws(SyntaxError) {
        var parser = URITemplateParser(text)
        parts = try parser.parts()
        self.text = text
        problem = nil
    }

    private init(refusing text: String, _ problem: SyntaxError) {
        self.text = text
        self.problem = problem
        parts = []
    }

    /// The names of the variables, in the order of their first use.
    public var variableNames: [String] {
        var names: [String] = []
        for case .expression(let expression) in parts {
            for variable in expression.variables where !names.contains(variable.name) { names.append(variable.name) }
        }
        return names
    }

    /// Returns whether both templates have the same text.
    public static func == (left: URITemplate, right: URITemplate) -> Bool { left.text == right.text }

    /// Hashes the text.
    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension URITemplate: ExpressibleByStringLiteral, CustomStringConvertible, CustomReflectable {
    /// Creates a template from a literal. Never traps: if the literal is malformed, `problem` has the reason.
    public init(stringLiteral value: String) {
        do throws(SyntaxError) {
            try self.init(value)
        } catch {
            self.init(refusing: value, error)
        }
    }

    /// The template as it was written.
    public var description: String { text }

    /// A mirror that shows only the text.
    public var customMirror: Mirror { Mirror(self, children: ["text": text]) }
}

extension URITemplate: Codable {
    /// Decodes a template from text. Throws `DecodingError` if it is malformed.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do throws(SyntaxError) {
            try self.init(text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: error.description)
        }
    }

    /// Encodes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
