// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import NameStubs
import Testing

/// That this file compiles is most of the test: each name below would be ambiguous if Curlew had it too.
@Suite(.timeLimit(.minutes(1)))
struct NameClashTests {
    @Test func namesOfOtherModulesStayTheirs() {
        let types: [any Any.Type] = [
            Path.self, Text.self, Image.self, Link.self, Label.self, Color.self, View.self, Binding.self, State.self,
            Environment.self, Section.self, Table.self, Group.self, Form.self, List.self, Menu.self, Transaction.self,
            Animation.self, Logger.self, Logging.self, LogHandler.self, Metrics.self, Counter.self, Timer.self,
            Gauge.self, Recorder.self, Tracing.self, Tracer.self, Span.self, Baggage.self, Progress.self,
            Operation.self, Host.self, Stream.self, Port.self, Process.self, Bundle.self, Thread.self,
            Notification.self, Scanner.self, HTTPCookie.self, CachedURLResponse.self, Publisher.self, Subscriber.self,
            Cancellable.self, Just.self, Future.self, Published.self, Connection.self, Listener.self, Network.self,
            Signpost.self, Lock.self, Mutex.self, Client.self, Server.self, Application.self, Router.self,
            Middleware.self, Context.self, Configuration.self, Headers.self, Cookie.self, Body.self, Multipart.self,
            Event.self, Store.self, Cache.self, Session.self, Token.self, Credentials.self, Authenticator.self,
            Download.self, Upload.self,
        ]
        #expect(types.allSatisfy { String(reflecting: $0).hasPrefix("NameStubs.") })
    }

    @Test func namesThatBothHaveAreReachedThroughTheUmbrella() throws {
        let request = try Curlew.HTTPRequest(url: "https://x.example/")
        let call = Curlew.Request<String>.get("/")
        #expect(request.target == "/" && call.path.encoded == "/")
        #expect(String(reflecting: Curlew.HTTPResponse.self) == "CurlewCore.HTTPResponse")
        #expect(String(reflecting: NameStubs.HTTPRequest.self) == "NameStubs.HTTPRequest")
    }
}
