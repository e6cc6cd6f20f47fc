// SPDX-License-Identifier: MIT

public import CurlewCore
public import CurlewFoundation
public import CurlewHTTP

/// The bytes of an image, with its format and its size in pixels, which are read from the head of the file.
///
///     let picture = try await client.send(.image(url: user.avatar))
///     print(picture.mediaType, picture.width, picture.height)
///
/// Supports PNG, JPEG, GIF and WebP. The pixels are not decoded, so a file with a valid head may still be damaged.
public struct ImageData: Hashable, Sendable {
    /// The bytes of the file, unchanged.
    public let bytes: Data
    /// The format that the content of the file shows, such as `image/png`, regardless of the response's `Content-Type`.
    public let mediaType: MediaType
    /// The width in pixels as stored, at least 1. A rotation in the metadata of the file is not applied.
    public let width: Int
    /// The height in pixels as stored, at least 1.
    public let height: Int

    /// The maximum number of pixels by default: 100 million, which take 400 MB when decoded to four bytes per pixel.
    public static let defaultPixelLimit = 100_000_000

    /// Reads the head of an image file.
    ///
    /// Throws `NetworkError` with reason `.decoding` for content that is not an image of a supported format, and for an
    /// image with more pixels than the limit. Without the limit, decoding a small file could exhaust memory.
    ///
    /// - `pixelLimit`: the maximum of width times height. Animations count one frame.
    public init(_ bytes: Data, pixelLimit: Int = ImageData.defaultPixelLimit) throws(NetworkError) {
        try self.init(bytes, pixelLimit: pixelLimit, response: nil)
    }

    init(_ bytes: Data, pixelLimit: Int, response: HTTPResponse?) throws(NetworkError) {
        // The error keeps the head and the first bytes of the response.
        let answer = response.map { NetworkError.Response(status: $0.status, headers: $0.headers, body: bytes) }
        guard let header = ImageHeader(bytes) else {
            let type = response?.mediaType.map { "The server sent \($0.essence)" } ?? "The content"
            throw NetworkError(
                .decoding, detail: Self.problem(bytes, type: type.printable),
                hint: response?.mediaType?.essence == "text/html"
                    ? "A web page instead of an image often means a wrong URL, a login page or a proxy."
                    : "Supported formats are PNG, JPEG, GIF and WebP. Request others as Data.",
                response: answer)
        }
        guard header.pixels <= Int64(max(0, pixelLimit)) else {
            throw NetworkError(
                .decoding,
                detail:
                    "The image has \(header.width) × \(header.height) pixels, more than the limit of \(pixelLimit).",
                hint: "Request a smaller version, or pass a larger pixelLimit if the server is trusted.",
                response: answer)
        }
        self.bytes = bytes
        mediaType = header.mediaType
        width = header.width
        height = header.height
    }

    private static func problem(_ bytes: Data, type: String) -> String {
        if bytes.isEmpty { return "The body is empty, but an image is expected." }
        let start = bytes.prefix(8).map { byte in
            let text = String(byte, radix: 16)
            return text.utf8.count < 2 ? "0" + text : text
        }
        return "\(type), of \(bytes.count) bytes, but no image whose size can be read."
            + " It begins with \(start.joined(separator: " "))."
    }
}

extension ImageData: CustomStringConvertible {
    /// The format, the size and the number of bytes: `image/png, 64 × 64, 812 bytes`.
    public var description: String {
        "\(mediaType), \(width) × \(height), \(bytes.count) bytes"
    }
}

extension Request where Value == ImageData {
    /// Creates a GET call for an image at an absolute URL. Credentials go only to the client's origin: see `get(url:)`.
    ///
    /// Sends `Accept: image/*` unless `headers` has that field. `send` throws `.decoding` for content that is not an
    /// image, and for an image of more than `pixelLimit` pixels: see `ImageData.init`.
    public static func image(
        url: String, pixelLimit: Int = ImageData.defaultPixelLimit, headers: HTTPHeaders = HTTPHeaders(),
        name: String = #function
    ) -> Self {
        Self(.get, absolute: url, body: .none, headers: accepting(headers), name: name) { response, _ in
            try await response.image(pixelLimit: pixelLimit)
        }
    }

    /// Creates a GET call for an image at a path below the base URL, otherwise like `image(url:)`.
    public static func image(
        _ path: RequestPath, query: QueryItems = QueryItems(), pixelLimit: Int = ImageData.defaultPixelLimit,
        headers: HTTPHeaders = HTTPHeaders(), name: String = #function
    ) -> Self {
        Self(.get, path, query: query, headers: accepting(headers), name: name) { response, _ in
            try await response.image(pixelLimit: pixelLimit)
        }
    }

    private static func accepting(_ headers: HTTPHeaders) -> HTTPHeaders {
        var headers = headers
        if !headers.contains(.accept) { headers[.accept] = "image/*" }
        return headers
    }
}

extension Endpoint where Response == ImageData {
    /// Reads the body as an image of at most `ImageData.defaultPixelLimit` pixels. Throws `.decoding` for any other.
    public func decode(_ response: HTTPResponse, using codecs: Codecs) async throws -> ImageData {
        try await response.image(pixelLimit: ImageData.defaultPixelLimit)
    }
}

extension HTTPResponse {
    fileprivate func image(pixelLimit: Int) async throws -> ImageData {
        try ImageData(try await body.collect(), pixelLimit: pixelLimit, response: self)
    }
}
