// SPDX-License-Identifier: MIT

import CurlewCore

/// An exchange of a transport: an ordinary one (`TaskBridge`), or a WebSocket connection (`SocketBridge`).
protocol SessionExchange: DeadlineWatch.Watched {
    var request: HTTPRequest { get }
    var context: ExchangeContext { get }
    /// Ends the exchange with an error of the transport, without waiting for URLSession.
    func fail(_ error: NetworkError)
    /// Records the cause of the failure that URLSession is about to report. The first cause is kept.
    func recordCause(_ error: NetworkError)
    func recordMetrics(_ metrics: ExchangeMetrics)
    /// Records that the system waits for a network, as the app's configuration demands: until something is sent or
    /// received, only the deadlines of the attempt and of the call apply.
    func waitForNetwork()
}
