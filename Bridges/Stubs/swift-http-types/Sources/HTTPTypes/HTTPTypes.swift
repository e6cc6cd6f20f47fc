// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// The declarations of swift-http-types 1.4 that the bridges and their tests use, written from its documentation.

public struct HTTPField: Hashable, Sendable {
    public struct Name: Hashable, Sendable, LosslessStringConvertible {
        public let rawName: String
        public let canonicalName: String

        /// Nil for a name that is no token.
        public init?(_ name: String) {
            guard HTTPField.isToken(name) else { return nil }
            rawName = name
            canonicalName = name.lowercased()
        }

        private init(known: String) {
            rawName = known
            canonicalName = known.lowercased()
        }

        public static var cookie: Name { Name(known: "Cookie") }
        public static var contentType: Name { Name(known: "Content-Type") }

        public var description: String { rawName }

        public static func == (left: Name, right: Name) -> Bool { left.canonicalName == right.canonicalName }
        public func hash(into hasher: inout Hasher) { hasher.combine(canonicalName) }
    }

    public var name: Name
    public var value: String

    /// Characters that a value cannot have become blanks.
    public init(name: Name, value: String) {
        self.name = name
        let bytes = value.utf8.map { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F ? 0x20 : $0 }
        self.value = String(decoding: bytes, as: UTF8.self)
    }

    public static func isValidValue(_ value: String) -> Bool {
        let blanks: [UInt8?] = [0x20, 0x09]
        if blanks.contains(value.utf8.first) || blanks.contains(value.utf8.last) { return false }
        return value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    static func isToken(_ text: String) -> Bool {
        let marks = Array("!#$%&'*+-.^_`|~".utf8)
        let isPart = { (byte: UInt8) -> Bool in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
            default: marks.contains(byte)
            }
        }
        return !text.isEmpty && text.utf8.allSatisfy(isPart)
    }
}

public struct HTTPFields: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    private var fields: [HTTPField] = []

    public init() {}

    public init(dictionaryLiteral elements: (HTTPField.Name, String)...) {
        fields = elements.map { HTTPField(name: $0.0, value: $0.1) }
    }

    public subscript(name: HTTPField.Name) -> String? {
        get {
            let values = self[values: name]
            return values.isEmpty ? nil : values.joined(separator: name == .cookie ? "; " : ", ")
        }
        set {
            fields.removeAll { $0.name == name }
            if let newValue { fields.append(HTTPField(name: name, value: newValue)) }
        }
    }

    public subscript(values name: HTTPField.Name) -> [String] { self[fields: name].map(\.value) }
    public subscript(fields name: HTTPField.Name) -> [HTTPField] { fields.filter { $0.name == name } }
}

extension HTTPFields: RandomAccessCollection, RangeReplaceableCollection {
    public var startIndex: Int { fields.startIndex }
    public var endIndex: Int { fields.endIndex }
    public subscript(position: Int) -> HTTPField { fields[position] }

    public mutating func replaceSubrange<Other: Collection>(_ range: Range<Int>, with other: Other)
    where Other.Element == HTTPField {
        fields.replaceSubrange(range, with: other)
    }
}

public struct HTTPRequest: Hashable, Sendable {
    public struct Method: Hashable, Sendable, RawRepresentable {
        public let rawValue: String

        public init?(_ method: String) {
            guard HTTPField.isToken(method) else { return nil }
            rawValue = method
        }

        public init?(rawValue: String) { self.init(rawValue) }

        private init(known: String) { rawValue = known }

        public static var get: Method { Method(known: "GET") }
        public static var head: Method { Method(known: "HEAD") }
        public static var post: Method { Method(known: "POST") }
        public static var put: Method { Method(known: "PUT") }
        public static var connect: Method { Method(known: "CONNECT") }
    }

    public var method: Method
    public var scheme: String?
    public var authority: String?
    public var path: String?
    public var extendedConnectProtocol: String?
    public var headerFields: HTTPFields

    public init(method: Method, scheme: String?, authority: String?, path: String?, headerFields: HTTPFields = [:]) {
        self.method = method
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.headerFields = headerFields
    }
}

public struct HTTPResponse: Hashable, Sendable {
    public struct Status: Hashable, Sendable, ExpressibleByIntegerLiteral {
        public let code: Int
        public let reasonPhrase: String

        public init(code: Int, reasonPhrase: String = "") {
            precondition((0...999).contains(code), "Invalid status code")
            self.code = code
            self.reasonPhrase = reasonPhrase
        }

        public init(integerLiteral value: Int) { self.init(code: value) }

        public static func == (left: Status, right: Status) -> Bool { left.code == right.code }
        public func hash(into hasher: inout Hasher) { hasher.combine(code) }
    }

    public var status: Status
    public var headerFields: HTTPFields

    public init(status: Status, headerFields: HTTPFields = [:]) {
        self.status = status
        self.headerFields = headerFields
    }
}
