// SPDX-License-Identifier: MIT

import CurlewHTTP

/// One exchange for several calls: the work on a task of its own, and a place for each call.
///
/// The call that begins it has no privilege: it leaves like any other.
final class SharedExchange: Sendable {
    /// Of the call that began it.
    let id: UInt64
    let origin: Origin
    let priority: RequestPriority

    private struct Inside: Sendable {
        var state: SharedExchangeState
        var work: Task<Void, Never>?
        var urgency: TaskPriority
        var alarm: (instant: MonotonicInstant, task: Task<Void, Never>)?
    }

    private let inside: Locked<Inside>
    /// What policies further in see of the calls' deadlines.
    private let sharedDeadline = SharedDeadline()
    private let time: any TimeSource
    /// There from the start: the work may be over before the call that begins it runs on.
    private let closed: @Sendable (SharedExchange) -> Void

    /// - `closed`: called when no more calls may join, once or twice.
    init(
        id: UInt64, origin: Origin, priority: RequestPriority, time: any TimeSource,
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

    /// A place in the exchange; nil when it has an answer already or nobody is left.
    func join(_ context: ExchangeContext) -> UInt64? {
        let urgency = Task.currentPriority
        let joined = inside.withLock { inside -> (UInt64, Task<Void, Never>?)? in
            guard let ticket = inside.state.join(context) else { return nil }
            let isMoreUrgent = urgency > inside.urgency
            if isMoreUrgent { inside.urgency = urgency }
            return (ticket, isMoreUrgent ? inside.work : nil)
        }
        guard let (ticket, work) = joined else { return nil }
        sharedDeadline.join(context.horizon)
        if let work { Self.hurry(work, urgency) }
        return ticket
    }

    /// What one call gets. A body that still arrives keeps the call's deadline.
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

    /// Waits for what a call gets. Its cancellation takes it off, and no other call.
    private func take(_ ticket: UInt64) async throws -> SharedExchangeState.Outcome {
        let outcome = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                change { $0.wait(ticket, waiter, now: time.now, &$1) }
            }
        } onCancel: {
            change { $0.leave(ticket, because: NetworkError(.cancelled), &$1) }
        }
        // A continuation resumed before its task has suspended hands its result over in a way that ThreadSanitizer cannot
        // see. Whoever resumed it had this lock before, which shows the order.
        inside.withLock { _ in }
        return outcome
    }

    // MARK: Work

    /// Begins the work.
    ///
    /// - `isStill`: whether the principal is the one that all calls expect. If not in the end, only the first gets the
    ///   response.
    func begin(_ request: HTTPRequest, _ next: Next, whilePrincipal isStill: @escaping @Sendable () -> Bool) {
        let urgency = Task.currentPriority
        let work = Task(priority: urgency) { await self.work(request, next, isStill) }
        let highest = inside.withLock { inside in
            inside.work = work
            return inside.urgency
        }
        if highest > urgency { Self.hurry(work, highest) }
    }

    private func work(_ request: HTTPRequest, _ next: Next, _ isStill: @Sendable () -> Bool) async {
        // Each call keeps its own deadlines; one who comes later has a later one. The transport has none: the exchange is
        // cancelled with the last call. Policies see the latest, so that no wait outlasts all callers.
        var context = next.context
        context.sharedDeadline = sharedDeadline
        context.totalDeadline = .never
        context.attemptDeadline = .never
        do {
            let response = try await next(request, context: context)
            let body = response.body
            let isWhole = body.bufferedData != nil || body.value != nil
            // Somebody may have signed in or out meanwhile.
            let isShared = isStill()
            change { $0.land(response, isWhole: isWhole, isShared: isShared, &$1) }
        } catch {
            change { $0.fail(NetworkError(error), &$1) }
        }
        closed(self)
    }

    /// A task that is waited for gets the priority of who waits.
    private static func hurry(_ work: Task<Void, Never>, _ urgency: TaskPriority) {
        Task(priority: urgency) { await work.value }
    }

    // MARK: Time

    /// Looks after those who wait at `instant`, or earlier if that is planned.
    private func arm(_ instant: MonotonicInstant) {
        let replaced = inside.withLock { inside -> Task<Void, Never>? in
            if let alarm = inside.alarm, alarm.instant <= instant { return nil }
            let replaced = inside.alarm?.task
            inside.alarm = (
                instant,
                Task { [weak self, time] in
                    guard (try? await time.alarm(at: instant)) != nil else { return }
                    self?.ring()
                }
            )
            return replaced
        }
        replaced?.cancel()
    }

    private func ring() {
        inside.withLock { $0.alarm = nil }
        change { $0.ring(time.now, &$1) }
    }

    /// Changes the state, and does what follows from it once the lock is free.
    private func change(_ body: (inout SharedExchangeState, inout SharedExchangeState.Effects) -> Void) {
        let (effects, work, alarm) = inside.withLock { inside in
            var effects = SharedExchangeState.Effects()
            body(&inside.state, &effects)
            // Nobody is left whose time could come.
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
