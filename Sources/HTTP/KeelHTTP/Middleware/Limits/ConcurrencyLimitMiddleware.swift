import Synchronization

/// A layer that limits the number of concurrent exchanges per origin.
///
/// Further calls wait in the order of their arrival; if the queue is full, a call fails with
/// ``TransportError/Code/throttled``. An exchange lasts until its body has ended, failed or been dropped.
///
/// Place it in ``NetworkClient/Configuration/attemptMiddleware``, so that a call does not hold a place between two
/// attempts.
public struct ConcurrencyLimitMiddleware: HTTPMiddleware {
    private let places: OriginPlaces

    /// Creates the layer; `limit` is at least 1, and at most `queue` calls per origin wait.
    public init(_ limit: Int, queue: Int = 1000) {
        places = OriginPlaces(limit: max(1, limit), queue: max(0, queue))
    }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        let place = try await places.take(for: call)
        do throws(TransportError) {
            var reply = try await next(call)
            reply.body = reply.body.mapReads { read async throws(TransportError) in
                do throws(TransportError) {
                    let piece = try await read()
                    if piece == nil { place.release() }
                    return piece
                } catch {
                    place.release()
                    throw error
                }
            }
            return reply
        } catch {
            place.release()
            throw error
        }
    }
}

/// A place among the exchanges of an origin, freed at the latest when it is dropped.
private final class OriginPlace: Sendable {
    private let origin: HTTPOrigin
    private let places: OriginPlaces
    private let isTaken = Mutex(true)

    init(_ origin: HTTPOrigin, _ places: OriginPlaces) {
        self.origin = origin
        self.places = places
    }

    deinit { release() }

    func release() {
        let wasTaken = isTaken.withLock { isTaken in
            defer { isTaken = false }
            return isTaken
        }
        if wasTaken { places.free(origin) }
    }
}

private final class OriginPlaces: Sendable {
    private enum Answer: Sendable { case granted, full, cancelled }

    private struct Queue: Sendable {
        var taken = 0
        var waiting: [UInt64: CheckedContinuation<Answer, Never>] = [:]
        /// Tickets in the order of arrival, including some that are no longer waiting.
        var order: ArraySlice<UInt64> = []

        mutating func nextWaiter() -> CheckedContinuation<Answer, Never>? {
            while let ticket = order.popFirst() {
                if let waiter = waiting.removeValue(forKey: ticket) { return waiter }
            }
            return nil
        }

        mutating func remove(_ ticket: UInt64) -> CheckedContinuation<Answer, Never>? {
            defer {
                // Stale tickets are dropped before they outnumber the others.
                if order.count > 2 * waiting.count + 16 {
                    order = ArraySlice(order.filter { waiting[$0] != nil })
                }
            }
            return waiting.removeValue(forKey: ticket)
        }
    }

    private struct State: Sendable {
        var queues: [HTTPOrigin: Queue] = [:]
        var lastTicket: UInt64 = 0
    }

    private let limit: Int
    private let queue: Int
    private let state = Mutex(State())

    init(limit: Int, queue: Int) {
        self.limit = limit
        self.queue = queue
    }

    func take(for call: HTTPCall) async throws(TransportError) -> OriginPlace {
        let origin = call.origin
        let ticket = state.withLock { state -> UInt64? in
            if state.queues[origin, default: Queue()].taken < limit {
                state.queues[origin, default: Queue()].taken += 1
                return nil
            }
            state.lastTicket += 1
            return state.lastTicket
        }
        guard let ticket else { return OriginPlace(origin, self) }
        call.record(.queued(true))
        switch await wait(ticket, origin) {
        case .granted:
            call.record(.queued(false))
            return OriginPlace(origin, self)
        case .full:
            throw TransportError(.throttled)
        case .cancelled:
            throw TransportError(.cancelled, phase: .pool)
        }
    }

    private func wait(_ ticket: UInt64, _ origin: HTTPOrigin) async -> Answer {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let answer = state.withLock { state -> Answer? in
                    if Task.isCancelled { return .cancelled }
                    var entry = state.queues[origin, default: Queue()]
                    defer { state.queues[origin] = entry }
                    // A place may have become free since the ticket was drawn.
                    if entry.taken < limit {
                        entry.taken += 1
                        return .granted
                    }
                    guard entry.waiting.count < queue else { return .full }
                    entry.waiting[ticket] = waiter
                    entry.order.append(ticket)
                    return nil
                }
                if let answer { waiter.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.queues[origin]?.remove(ticket) }
            waiter?.resume(returning: .cancelled)
        }
    }

    func free(_ origin: HTTPOrigin) {
        let waiter = state.withLock { state -> CheckedContinuation<Answer, Never>? in
            if let waiter = state.queues[origin]?.nextWaiter() { return waiter }
            state.queues[origin]?.taken -= 1
            if state.queues[origin]?.taken == 0 { state.queues[origin] = nil }
            return nil
        }
        waiter?.resume(returning: .granted)
    }
}
