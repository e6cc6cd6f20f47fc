// SPDX-License-Identifier: MIT

extension HARDocument {
    /// A request. Values that a `Redaction` hides are `REDACTED` in the documents that this package writes.
    public struct Request: Codable, Hashable, Sendable {
        /// The method.
        public var method: String
        /// The absolute URL, without a fragment.
        public var url: String
        /// The HTTP version, such as `HTTP/1.1`.
        public var httpVersion: String
        /// The cookies of the request.
        package var cookies: [Cookie]
        /// The header fields, in order.
        public var headers: [NameValue]
        /// The items of the query, in order, decoded.
        public var queryString: [NameValue]
        /// The body; nil if there was none, or if it was not recorded.
        public var postData: PostData?
        /// The size of the head in bytes; `-1` if it is unknown.
        package var headersSize: Int64
        /// The size of the body as sent, in bytes; `-1` if it is unknown.
        public var bodySize: Int64
        /// A remark.
        package var comment: String?

        /// Creates a request.
        package init(
            method: String, url: String, httpVersion: String = "HTTP/1.1", cookies: [Cookie] = [],
            headers: [NameValue] = [], queryString: [NameValue] = [], postData: PostData? = nil,
            headersSize: Int64 = -1, bodySize: Int64 = -1, comment: String? = nil
        ) {
            self.method = method
            self.url = url
            self.httpVersion = httpVersion
            self.cookies = cookies
            self.headers = headers
            self.queryString = queryString
            self.postData = postData
            self.headersSize = headersSize
            self.bodySize = bodySize
            self.comment = comment
        }

        /// Reads the value. Only `method` and `url` are required.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            method = try values.decode(String.self, forKey: .method)
            url = try values.decode(String.self, forKey: .url)
            httpVersion = try values.decodeIfPresent(String.self, forKey: .httpVersion) ?? ""
            cookies = try values.decodeIfPresent([Cookie].self, forKey: .cookies) ?? []
            headers = try values.decodeIfPresent([NameValue].self, forKey: .headers) ?? []
            queryString = try values.decodeIfPresent([NameValue].self, forKey: .queryString) ?? []
            postData = try values.decodeIfPresent(PostData.self, forKey: .postData)
            headersSize = try values.decodeIfPresent(Int64.self, forKey: .headersSize) ?? -1
            bodySize = try values.decodeIfPresent(Int64.self, forKey: .bodySize) ?? -1
            comment = try values.decodeIfPresent(String.self, forKey: .comment)
        }
    }

    /// A response.
    public struct Response: Codable, Hashable, Sendable {
        /// The status code; 0 if no response arrived.
        public var status: Int
        /// The reason phrase; empty if there was none.
        public var statusText: String
        /// The HTTP version, such as `HTTP/1.1`; empty if no response arrived.
        public var httpVersion: String
        /// The cookies that the response sets.
        package var cookies: [Cookie]
        /// The header fields, in order.
        public var headers: [NameValue]
        /// The body.
        public var content: Content
        /// The value of the field `Location`; empty if there is none.
        public var redirectURL: String
        /// The size of the head in bytes; `-1` if it is unknown.
        package var headersSize: Int64
        /// The size of the body as received, before decoding, in bytes; `-1` if it is unknown.
        public var bodySize: Int64
        /// A remark.
        package var comment: String?
        /// The bytes of the head and the body as received, in the field `_transferSize`; nil if the number is unknown.
        /// Chromium uses the same field.
        public var transferSize: Int64?
        /// The reason why no complete response arrived, in the field `_error`; nil if it did. Chromium uses the same
        /// field.
        public var error: String?
        /// The interim responses, in order, in the field `_interim`. Cassettes write it; the recorder has them in `Facts`.
        package var interim: [Interim]?
        /// The trailer fields, in order, in the field `_trailers`. Cassettes write it; the recorder has them in `Facts`.
        package var trailers: [NameValue]?

        private enum CodingKeys: String, CodingKey {
            case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize, comment
            case transferSize = "_transferSize"
            case error = "_error"
            case interim = "_interim"
            case trailers = "_trailers"
        }

        /// Creates a response.
        package init(
            status: Int, statusText: String = "", httpVersion: String = "HTTP/1.1", cookies: [Cookie] = [],
            headers: [NameValue] = [], content: Content = Content(), redirectURL: String = "",
            headersSize: Int64 = -1, bodySize: Int64 = -1, comment: String? = nil, transferSize: Int64? = nil,
            error: String? = nil
        ) {
            self.status = status
            self.statusText = statusText
            self.httpVersion = httpVersion
            self.cookies = cookies
            self.headers = headers
            self.content = content
            self.redirectURL = redirectURL
            self.headersSize = headersSize
            self.bodySize = bodySize
            self.comment = comment
            self.transferSize = transferSize
            self.error = error
        }

        /// Reads the value. Only `status` is required.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            status = try values.decode(Int.self, forKey: .status)
            statusText = try values.decodeIfPresent(String.self, forKey: .statusText) ?? ""
            httpVersion = try values.decodeIfPresent(String.self, forKey: .httpVersion) ?? ""
            cookies = try values.decodeIfPresent([Cookie].self, forKey: .cookies) ?? []
            headers = try values.decodeIfPresent([NameValue].self, forKey: .headers) ?? []
            content = try values.decodeIfPresent(Content.self, forKey: .content) ?? Content()
            redirectURL = try values.decodeIfPresent(String.self, forKey: .redirectURL) ?? ""
            headersSize = try values.decodeIfPresent(Int64.self, forKey: .headersSize) ?? -1
            bodySize = try values.decodeIfPresent(Int64.self, forKey: .bodySize) ?? -1
            comment = try values.decodeIfPresent(String.self, forKey: .comment)
            transferSize = try values.decodeIfPresent(Int64.self, forKey: .transferSize)
            error = try values.decodeIfPresent(String.self, forKey: .error)
            // Another program may use the same names for something else.
            interim = try? values.decodeIfPresent([Interim].self, forKey: .interim)
            trailers = try? values.decodeIfPresent([NameValue].self, forKey: .trailers)
        }
    }

    /// A header field, or an item of a query.
    public struct NameValue: Codable, Hashable, Sendable {
        /// The name.
        public var name: String
        /// The value.
        public var value: String
        /// A remark.
        package var comment: String?

        /// Creates a pair.
        package init(name: String, value: String, comment: String? = nil) {
            self.name = name
            self.value = value
            self.comment = comment
        }

        /// Reads the value. A missing text is empty.
        public init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            name = try values.decodeIfPresent(String.self, forKey: .name) ?? ""
            value = try values.decodeIfPresent(String.self, forKey: .value) ?? ""
            comment = try values.decodeIfPresent(String.self, forKey: .comment)
        }
    }

    /// A cookie of a request or a response.
    package struct Cookie: Codable, Hashable, Sendable {
        /// The name.
        package var name: String
        /// The value.
        package var value: String
        /// The path for which the cookie is valid.
        package var path: String?
        /// The domain for which the cookie is valid.
        package var domain: String?
        /// The moment when the cookie expires, in ISO 8601 format, as it is in the document.
        package var expires: String?
        /// Whether scripts cannot read the cookie.
        package var httpOnly: Bool?
        /// Whether the cookie is sent over secure connections only.
        package var secure: Bool?
        /// A remark.
        package var comment: String?

        /// Creates a cookie.
        package init(
            name: String, value: String, path: String? = nil, domain: String? = nil, expires: String? = nil,
            httpOnly: Bool? = nil, secure: Bool? = nil, comment: String? = nil
        ) {
            self.name = name
            self.value = value
            self.path = path
            self.domain = domain
            self.expires = expires
            self.httpOnly = httpOnly
            self.secure = secure
            self.comment = comment
        }

        /// Reads the value. A missing name or value is empty.
        package init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            name = try values.decodeIfPresent(String.self, forKey: .name) ?? ""
            value = try values.decodeIfPresent(String.self, forKey: .value) ?? ""
            path = try values.decodeIfPresent(String.self, forKey: .path)
            domain = try values.decodeIfPresent(String.self, forKey: .domain)
            expires = try values.decodeIfPresent(String.self, forKey: .expires)
            httpOnly = try values.decodeIfPresent(Bool.self, forKey: .httpOnly)
            secure = try values.decodeIfPresent(Bool.self, forKey: .secure)
            comment = try values.decodeIfPresent(String.self, forKey: .comment)
        }
    }
}
