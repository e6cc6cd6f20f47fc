// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import HTTPTypes
import OpenAPIRuntimeBridge
import Testing

@Suite(.timeLimit(.minutes(1)))
struct HTTPTypesTests {
    private func name(_ text: String) throws -> HTTPTypes.HTTPField.Name {
        try #require(HTTPTypes.HTTPField.Name(text))
    }

    @Test("Fields keep their order, their duplicates and the case of their names, both ways")
    func fields() throws {
        var headers = HTTPHeaders()
        for (name, value) in [("X-Tag", "one"), ("Accept", "*/*"), ("x-tag", "two"), ("X-Empty", "")] {
            headers.append(Curlew.HTTPField.Name(name), value)
        }
        let fields = try HTTPFields(headers)
        #expect(fields.map(\.name.rawName) == ["X-Tag", "Accept", "x-tag", "X-Empty"])
        #expect(fields.map(\.value) == ["one", "*/*", "two", ""])
        let back = HTTPHeaders(fields)
        #expect(back.map(\.name.text) == headers.map(\.name.text) && back.map(\.value) == headers.map(\.value))
    }

    @Test("Fields of the name Cookie become one, at the position of the first")
    func cookies() throws {
        var fields = HTTPFields()
        for (text, value) in [("cookie", "a=1"), ("accept", "*/*"), ("cookie", "b=2")] {
            fields.append(HTTPTypes.HTTPField(name: try name(text), value: value))
        }
        let headers = HTTPHeaders(fields)
        #expect(headers.map(\.name.text) == ["Cookie", "accept"])
        #expect(headers[.cookie] == "a=1; b=2")
        #expect(HTTPHeaders(HTTPFields([fields[0]])).map(\.name.text) == ["cookie"])
    }

    @Test("A field with an invalid name is refused", arguments: ["", ":path", "a b", "a:b", "nämé"])
    func invalidNames(name: String) {
        var headers = HTTPHeaders()
        headers.append(Curlew.HTTPField.Name(name), "value")
        #expect(throws: NetworkError.self) { try HTTPFields(headers) }
    }

    @Test("A field with an invalid value is refused", arguments: ["a\r\nb: c", "a\0", "a\u{1}b"])
    func invalidValues(value: String) {
        #expect(throws: NetworkError.self) { try HTTPFields(["X-Tag": value]) }
    }

    @Test("A request has the same method, URL and fields, both ways")
    func requests() throws {
        let request = HTTPTypes.HTTPRequest(
            method: .put, scheme: "http", authority: "localhost:8080", path: "/films/a%2Fb?page=2",
            headerFields: [.contentType: "text/plain"])
        let message = try Curlew.HTTPRequest(request, body: .bytes(Data("film".utf8)))
        #expect(message.method == .put)
        #expect(message.urlString == "http://localhost:8080/films/a%2Fb?page=2")
        #expect(message.headers[.contentType] == "text/plain")
        #expect(message.body.data == Data("film".utf8))
        #expect(try HTTPTypes.HTTPRequest(message) == request)
    }

    @Test("Pseudo fields have defaults, except the authority")
    func pseudoFields() throws {
        var request = HTTPTypes.HTTPRequest(method: .get, scheme: nil, authority: "api.example.com", path: nil)
        #expect(try Curlew.HTTPRequest(request).urlString == "https://api.example.com/")
        request.authority = nil
        #expect(throws: NetworkError.self) { try Curlew.HTTPRequest(request) }
        request.authority = "api.example.com"
        request.path = "*"
        #expect(throws: NetworkError.self) { try Curlew.HTTPRequest(request) }
        request.path = "/chat"
        request.extendedConnectProtocol = "websocket"
        #expect(throws: NetworkError.self) { try Curlew.HTTPRequest(request) }
    }

    @Test("A method that is no token is refused")
    func methods() throws {
        var message = try Curlew.HTTPRequest(url: "https://api.example.com/")
        message.method = "GET IT"
        #expect(throws: NetworkError.self) { try HTTPTypes.HTTPRequest(message) }
    }

    @Test("A response has the same status, reason phrase and fields, both ways")
    func responses() async throws {
        let response = HTTPTypes.HTTPResponse(
            status: .init(code: 299, reasonPhrase: "Fine"), headerFields: [.contentType: "text/plain"])
        let message = Curlew.HTTPResponse(response, body: ResponseBody(Data("film".utf8)), url: "https://a.example/")
        #expect(message.status.code == 299 && message.reasonPhrase == "Fine")
        #expect(try await message.text() == "film")
        let back = try HTTPTypes.HTTPResponse(message)
        #expect(back == response && back.status.reasonPhrase == "Fine")
        #expect(throws: NetworkError.self) { try HTTPTypes.HTTPResponse(Curlew.HTTPResponse(status: 1000)) }
    }

    @Test("A client sends a request through its pipeline and returns every status")
    func sending() async throws {
        let mock = MockTransport.answering { call in
            call.context.attempt == 1 ? .status(503) : .status(.notFound, headers: ["X-Tag": "one"])
        }
        let client = APIClient.mock(mock, pipeline: .standard, configuration: .withoutWaits)
        let request = HTTPTypes.HTTPRequest(method: .get, scheme: "https", authority: "mock.test", path: "/films/1")
        let response = try await client.send(request, name: "film")
        #expect(try HTTPTypes.HTTPResponse(response).status == 404)
        #expect(mock.requests.map(\.routeName) == ["film", "film"])
        #expect(mock.requests.first?.headers.contains(.userAgent) == true)
    }
}
