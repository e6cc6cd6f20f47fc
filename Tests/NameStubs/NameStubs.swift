// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Names that people import from other modules beside this package. Where Curlew had one of them too, a file that
// imports both could not use it unqualified.

// SwiftUI
public enum Path {}
public enum Text {}
public enum Image {}
public enum Link {}
public enum Label {}
public enum Color {}
public enum View {}
public enum Binding {}
public enum State {}
public enum Environment {}
public enum Section {}
public enum Table {}
public enum Group {}
public enum Form {}
public enum List {}
public enum Menu {}
public enum Transaction {}
public enum Animation {}

// swift-log
public enum Logger {}
public enum Logging {}
public enum LogHandler {}

// swift-metrics
public enum Metrics {}
public enum Counter {}
public enum Timer {}
public enum Gauge {}
public enum Recorder {}

// swift-distributed-tracing
public enum Tracing {}
public enum Tracer {}
public enum Span {}
public enum Baggage {}

// Foundation
public enum Progress {}
public enum Operation {}
public enum Host {}
public enum Stream {}
public enum Port {}
public enum Process {}
public enum Bundle {}
public enum Thread {}
public enum Notification {}
public enum Scanner {}
public enum HTTPCookie {}
public enum CachedURLResponse {}

// Combine
public enum Publisher {}
public enum Subscriber {}
public enum Cancellable {}
public enum Just {}
public enum Future {}
public enum Published {}

// Network, os
public enum Connection {}
public enum Listener {}
public enum Network {}
public enum Signpost {}
public enum Lock {}
public enum Mutex {}

// web frameworks
public enum Client {}
public enum Server {}
public enum Application {}
public enum Router {}
public enum Middleware {}
public enum Context {}
public enum Configuration {}
public enum Headers {}
public enum Cookie {}
public enum Body {}
public enum Multipart {}
public enum Event {}
public enum Store {}
public enum Cache {}
public enum Session {}
public enum Token {}
public enum Credentials {}
public enum Authenticator {}
public enum Download {}
public enum Upload {}

// Names that Curlew has as well: the umbrella's are reached as `Curlew.HTTPRequest`.
public enum HTTPRequest {}
public enum HTTPResponse {}
public enum HTTPField {}
public enum Request {}
public enum Response {}
public enum Route {}
