// SPDX-License-Identifier: MIT

extension HARDocument {
    /// A request. Values that a `Redaction` hides are `REDACTED` in the documents that this package writes.
    public struct Request: Codable, Hashable, Sendable {
        /// The method.
        public var method: String
        /// The absolute URL, without a fragment.
        public var url: String
        /// The HTTP version, such as `HTTP/1.1`; empty if the document has none.
        public var httpVersion = "HTTP/1.1"
        package var cookies: [Cookie] = []
        /// The header fields, in order.
        public var headers: [NameValue] = []
        /// The items of the query, in order, decoded.
        public var queryString: [NameValue] = []
        /// The body; nil if there was none, or if the recording has no bodies.
        public var postData: PostData?
        /// The size of the head in bytes; `-1` if it is unknown.
        package var headersSize: Int64 = -1
        /// The size of the body as sent, in bytes; `-1` if it is unknown.
        public var bodySize: Int64 = -1
    }

    /// A response.
    public struct Response: Codable, Hashable, Sendable {
        /// The status code; 0 if no response arrived.
        public var status: Int
        /// The reason phrase; empty if there was none.
        public var statusText = ""
        /// The HTTP version, such as `HTTP/1.1`; empty if no response arrived.
        public var httpVersion = "HTTP/1.1"
        package var cookies: [Cookie] = []
        /// The header fields, in order.
        public var headers: [NameValue] = []
        /// The body, after decoding.
        public var content = Content()
        /// The value of the field `Location`; empty if there is none.
        public var redirectURL = ""
        /// The size of the head in bytes; `-1` if it is unknown.
        package var headersSize: Int64 = -1
        /// The size of the body as received, before decoding, in bytes; `-1` if it is unknown.
        public var bodySize: Int64 = -1
        /// The number of bytes of the head and the body, as received, in the field `_transferSize`; nil if it is
        /// unknown. Chromium uses the same field.
        public var transferSize: Int64?
        /// The error of an exchange without a complete response, in the field `_error`; nil if the response is
        /// complete. Chromium uses the same field.
        public var error: String?
        /// The interim responses in cassettes, in order, in the field `_interim`. The recorder has them in `Facts`.
        package var interim: [Interim]?
        /// The trailer fields in cassettes, in order, in the field `_trailers`. The recorder has them in `Facts`.
        package var trailers: [NameValue]?

        private enum CodingKeys: String, CodingKey {
            case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
            case transferSize = "_transferSize"
            case error = "_error"
            case interim = "_interim"
            case trailers = "_trailers"
        }
    }

    /// A header field, or an item of a query or a form.
    public struct NameValue: Codable, Hashable, Sendable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }

        /// Reads the value. A missing text is empty.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            name = try values.value(.name, or: "")
            value = try values.value(.value, or: "")
        }
    }

    package struct Cookie: Codable, Hashable, Sendable {
        package var name: String
        package var value: String
        package var path: String?
        package var domain: String?
        /// The moment when the cookie expires, in ISO 8601 format, as it is in the document.
        package var expires: String?
        package var httpOnly: Bool?
        package var secure: Bool?
    }
}

extension HARDocument.Request {
    /// Reads the value. Only `method` and `url` are required.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        method = try values.decode(String.self, forKey: .method)
        url = try values.decode(String.self, forKey: .url)
        httpVersion = try values.value(.httpVersion, or: "")
        cookies = try values.value(.cookies, or: [])
        headers = try values.value(.headers, or: [])
        queryString = try values.value(.queryString, or: [])
        postData = try values.decodeIfPresent(HARDocument.PostData.self, forKey: .postData)
        headersSize = try values.value(.headersSize, or: -1)
        bodySize = try values.value(.bodySize, or: -1)
    }
}

extension HARDocument.Response {
    /// Reads the value. Only `status` is required.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        status = try values.decode(Int.self, forKey: .status)
        statusText = try values.value(.statusText, or: "")
        httpVersion = try values.value(.httpVersion, or: "")
        cookies = try values.value(.cookies, or: [])
        headers = try values.value(.headers, or: [])
        content = try values.value(.content, or: HARDocument.Content())
        redirectURL = try values.value(.redirectURL, or: "")
        headersSize = try values.value(.headersSize, or: -1)
        bodySize = try values.value(.bodySize, or: -1)
        transferSize = try values.decodeIfPresent(Int64.self, forKey: .transferSize)
        error = try values.decodeIfPresent(String.self, forKey: .error)
        // Another program may use the same names for something else.
        interim = try? values.decodeIfPresent([HARDocument.Interim].self, forKey: .interim)
        trailers = try? values.decodeIfPresent([HARDocument.NameValue].self, forKey: .trailers)
    }
}

extension HARDocument.Cookie {
    /// Reads the value. A missing name or value is empty.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        name = try values.value(.name, or: "")
        value = try values.value(.value, or: "")
        path = try values.decodeIfPresent(String.self, forKey: .path)
        domain = try values.decodeIfPresent(String.self, forKey: .domain)
        expires = try values.decodeIfPresent(String.self, forKey: .expires)
        httpOnly = try values.decodeIfPresent(Bool.self, forKey: .httpOnly)
        secure = try values.decodeIfPresent(Bool.self, forKey: .secure)
    }
}
