// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewFoundation
import CurlewHTTP

/// An exchange that several calls share: a task that performs it, and a ticket for each call.
///
/// The call that begins the exchange has no special role: it can leave as any other call can.
final class SharedExchange: Sendable {
    /// The number of the call that began the exchange.
    let id: UInt64
    let origin: Origin
    let priority: RequestOptions.Priority

    private struct Inside: Sendable {
        var state: SharedExchangeState
        var work: Task<Void, Never>?
        var urgency: TaskPriority
        var alarm: (instant: SystemTime.Instant, task: Task<Void, Never>)?
    }

    private let inside: Locked<Inside>
    /// The latest deadline of the calls. The inner interceptors see it as the deadline of the exchange.
    private let sharedDeadline = Locked<SystemTime.Deadline?>(nil)
    private let time: any TimeSource
    /// Called when no more calls may join. The initializer sets it, because the exchange may already have ended when
    /// `begin` returns.
    private let closed: @Sendable (SharedExchange) -> Void

    /// - `closed`: called once or twice when no more calls may join.
    init(
        id: UInt64, origin: Origin, priority: RequestOptions.Priority, time: any TimeSource,
        closed: @escaping @Sendable (SharedExchange) -> Void
    ) {
        self.id = id
        self.origin = origin
        self.priority = priority
        self.time = time
        self.closed = closed
        inside = Locked(Inside(state: SharedExchangeState(), urgency: Task.currentPriority))
    }

    // MARK: Calls

    /// Adds a call and returns its ticket; nil if the exchange has a response or an error, or if no calls are left.
    func join(_ context: ExchangeContext) -> UInt64? {
        let urgency = Task.currentPriority
        let joined = inside.withLock { inside -> (UInt64, Task<Void, Never>?)? in
            guard let ticket = inside.state.join(context) else { return nil }
            let isMoreUrgent = urgency > inside.urgency
            if isMoreUrgent { inside.urgency = urgency }
            return (ticket, isMoreUrgent ? inside.work : nil)
        }
        guard let (ticket, work) = joined else { return nil }
        let horizon = context.horizon
        sharedDeadline.withLock { latest in
            guard let known = latest else { return latest = horizon }
            guard let last = known.instant, let instant = horizon.instant else { return latest = .never }
            latest = last < instant ? horizon : known
        }
        if let work { Self.escalate(work, urgency) }
        return ticket
    }

    /// Waits for the exchange, and returns its outcome for one call. Reading a body that is still arriving ends at the
    /// call's deadline.
    func outcome(for ticket: UInt64, _ context: ExchangeContext) async throws -> SharedExchangeState.Outcome {
        let outcome = try await take(ticket)
        guard case .response(var response) = outcome else { return outcome }
        let body = response.body
        if body.bufferedData != nil || body.value != nil {
            response.body = body.limited(to: body.limit)
        } else if context.deadline != .never {
            let phase: NetworkError.Phase = context.deadline == context.totalDeadline ? .total : .attempt
            let timed = TimedBody(body, until: context.deadline, phase, on: time)
            response.body = ResponseBody(timed, limit: body.limit, length: body.declaredLength)
        }
        return .response(response)
    }

    /// Waits for the outcome of a call. Cancellation removes this call only.
    private func take(_ ticket: UInt64) async throws -> SharedExchangeState.Outcome {
        let outcome = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                change { $0.wait(ticket, waiter, now: time.now, &$1) }
            }
        } onCancel: {
            change { $0.leave(ticket, because: NetworkError(.cancelled), &$1) }
        }
        // A continuation that is resumed before its task has suspended passes its result in a way that ThreadSanitizer
        // cannot track. The resuming thread has already released this lock, so that acquiring it here establishes the
        // order.
        inside.withLock { _ in }
        return outcome
    }

    // MARK: Work

    /// Starts the task that performs the exchange.
    ///
    /// - `isStill`: returns whether the principal is still the one in the key. If it returns false when the response
    ///   arrives, only the call that began the exchange receives the response.
    func begin(_ request: HTTPRequest, _ next: Next, whilePrincipal isStill: @escaping @Sendable () -> Bool) {
        let urgency = Task.currentPriority
        let work = Task(priority: urgency) { await self.work(request, next, isStill) }
        let highest = inside.withLock { inside in
            inside.work = work
            return inside.urgency
        }
        if highest > urgency { Self.escalate(work, highest) }
    }

    private func work(_ request: HTTPRequest, _ next: Next, _ isStill: @Sendable () -> Bool) async {
        // Each call has separate deadlines, and enforces them itself. The exchange has none, because calls that join
        // later have later deadlines; it is cancelled with the last call. Interceptors see the latest deadline, so that
        // no wait outlasts all callers.
        var context = next.context
        context.sharedDeadline = sharedDeadline
        context.totalDeadline = .never
        context.attemptDeadline = .never
        do {
            let response = try await next(request, context: context)
            let body = response.body
            let isWhole = body.bufferedData != nil || body.value != nil
            // The user may have signed in or out during the exchange.
            let isShared = isStill()
            change { $0.resolve(response, isWhole: isWhole, isShared: isShared, &$1) }
        } catch {
            change { $0.fail(NetworkError(error), &$1) }
        }
        closed(self)
    }

    /// Raises the priority of a task: a new task with the higher priority waits for it.
    private static func escalate(_ work: Task<Void, Never>, _ urgency: TaskPriority) {
        Task(priority: urgency) { await work.value }
    }

    // MARK: Time

    /// Schedules a check at `instant` for calls whose deadline has passed, unless an earlier check is scheduled.
    private func arm(_ instant: SystemTime.Instant) {
        let replaced = inside.withLock { inside -> Task<Void, Never>? in
            if let alarm = inside.alarm, alarm.instant <= instant { return nil }
            let replaced = inside.alarm?.task
            inside.alarm = (
                instant,
                Task { [weak self, time] in
                    guard (try? await time.alarm(at: instant)) != nil else { return }
                    self?.timerFired()
                }
            )
            return replaced
        }
        replaced?.cancel()
    }

    private func timerFired() {
        inside.withLock { $0.alarm = nil }
        change { $0.timerFired(time.now, &$1) }
    }

    /// Changes the state, and performs the resulting effects after the lock is released.
    private func change(_ body: (inout SharedExchangeState, inout SharedExchangeState.Effects) -> Void) {
        let (effects, work, alarm) = inside.withLock { inside in
            var effects = SharedExchangeState.Effects()
            body(&inside.state, &effects)
            // Without calls no deadline can pass, so the check is not needed.
            let alarm = inside.state.hasReaders ? nil : inside.alarm?.task
            if alarm != nil { inside.alarm = nil }
            return (effects, effects.stops ? inside.work : nil, alarm)
        }
        alarm?.cancel()
        if let alarm = effects.alarm { arm(alarm) }
        if effects.stops {
            work?.cancel()
            closed(self)
        }
        effects.unclaimed?.body.cancel()
        for (waiter, delivery) in effects.deliveries { waiter.resume(with: delivery) }
    }
}

/// The exchanges that calls can join, by key. There are never more exchanges than calls in flight.
///
/// The lock of this type is acquired before the lock of an exchange, never after it.
final class SharedExchanges: Sendable {
    private let open = Locked<[CoalescingKey: SharedExchange]>([:])

    /// Adds a call to the open exchange of this key, or to a new exchange if there is none with the call's priority or
    /// a higher one. The first call must begin the new exchange.
    func join(
        _ key: CoalescingKey, _ context: ExchangeContext, make: () -> SharedExchange
    ) -> (SharedExchange, ticket: UInt64, isFirst: Bool) {
        open.withLock { open in
            let priority = context.options.priority ?? .normal
            if let exchange = open[key], exchange.priority.rawValue >= priority.rawValue,
                let ticket = exchange.join(context)
            {
                return (exchange, ticket, false)
            }
            let exchange = make()
            open[key] = exchange
            return (exchange, exchange.join(context) ?? 0, true)
        }
    }

    /// Removes an exchange that can no longer be joined, unless another one has replaced it.
    func remove(_ key: CoalescingKey, _ exchange: SharedExchange) {
        open.withLock { open in
            if open[key] === exchange { open[key] = nil }
        }
    }

    /// Closes the exchanges of this origin for new calls. The calls that already wait still receive their responses.
    func close(_ origin: Origin) {
        open.withLock { open in
            if open.isEmpty { return }
            open = open.filter { $0.value.origin != origin }
        }
    }
}
