internal import KeelCore
internal import KeelStorage
internal import KeelStorageAdapting
internal import Synchronization

struct ChangeInterest: Sendable, Hashable {
    var scope: ChangeScope
    var database: String
    var tellsContent: Bool
    /// The clients whose mutations are acknowledged to the listener.
    var clients: Set<String> = []
}

/// The position and the backlog of a listener.
///
/// A listener starts *behind* and reads pages itself. Before each read it starts *attending*: it also collects the
/// events of the shared reader. When a read has reached the position where collecting started, the listener is *live*.
/// Locks are taken in the order hub, listener.
final class ChangeListener: Sendable {
    typealias Waiter = CheckedContinuation<[UInt8]?, Never>

    /// A waiting task to resume outside of all locks.
    struct Wake {
        let waiter: Waiter
        var bytes: [UInt8]?

        func resume() { waiter.resume(returning: bytes) }
    }

    enum Step: Sendable {
        case send([UInt8])
        case readPage
        case wait
        case end
    }

    private enum Phase { case behind, attending, live, ended }

    private struct Parcel {
        let events: BufferedBytes
        let position: ChangeCursor?
    }

    private struct State {
        var phase = Phase.behind
        /// The position of the last changes that the listener has received.
        var told: ChangeCursor?
        /// The position at which collecting started; nil if the shared reader was not running.
        var coverage: ChangeCursor?
        var parcels: [Parcel] = []
        var size = 0
        var quietBeats = 0
        var waiter: Waiter?

        mutating func give(_ events: BufferedBytes, _ position: ChangeCursor?) -> Wake? {
            if phase == .live, let waiter = waiter.take() {
                return Wake(waiter: waiter, bytes: events.bytes)
            }
            parcels.append(Parcel(events: events, position: position))
            size += events.bytes.count
            return nil
        }

        mutating func clear() {
            parcels = []
            size = 0
        }

        mutating func wake() -> Wake? { waiter.take().map { Wake(waiter: $0, bytes: nil) } }
    }

    let interest: ChangeInterest
    let caller: CallerID?
    private let maximumBytes: Int
    private let state: Mutex<State>

    init(
        interest: ChangeInterest,
        caller: CallerID?,
        after cursor: ChangeCursor?,
        maximumBytes: Int
    ) {
        self.interest = interest
        self.caller = caller
        self.maximumBytes = maximumBytes
        state = Mutex(State(told: cursor))
    }

    var told: ChangeCursor? { state.withLock { $0.told } }

    // MARK: Readers

    func step() -> Step {
        state.withLock { state in
            switch state.phase {
            case .ended: return .end
            case .attending: return .readPage
            case .behind, .live:
                guard let first = state.parcels.first else {
                    return state.phase == .live ? .wait : .readPage
                }
                let isAlone = state.parcels.count == 1
                let bytes =
                    isAlone ? first.events.bytes : state.parcels.flatMap(\.events.bytes)
                state.clear()
                return .send(bytes)
            }
        }
    }

    /// Waits until there is something to do, or the task is canceled.
    ///
    /// - Returns: Events to send, which bypass the backlog; nil if ``step()`` must be called.
    func wait() async -> [UInt8]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let due = state.withLock { state -> Waiter? in
                    let isIdle = state.phase == .live && state.parcels.isEmpty
                    guard isIdle, !Task.isCancelled else { return continuation }
                    defer { state.waiter = continuation }
                    return state.waiter
                }
                due?.resume(returning: nil)
            }
        } onCancel: {
            state.withLock { $0.waiter.take() }?.resume(returning: nil)
        }
    }

    func tell(_ position: ChangeCursor) { state.withLock { $0.told = position } }

    func end() { abandon()?.resume() }

    // MARK: Hub

    func attend(from coverage: ChangeCursor?) {
        state.withLock { state in
            guard state.phase != .ended else { return }
            state.phase = .attending
            state.coverage = coverage
            state.clear()
        }
    }

    /// Goes live at a position if the collected events continue it.
    func join(at position: ChangeCursor, start: ChangeCursor) -> Bool {
        state.withLock { state in
            guard state.phase == .attending, (state.coverage ?? start) <= position else {
                return false
            }
            // Pages up to this position were read before the listener's own page, and may contain older states.
            state.parcels.removeAll { $0.position.map { $0 <= position } ?? true }
            state.size = state.parcels.reduce(0) { $0 + $1.events.bytes.count }
            state.told = state.parcels.last?.position ?? position
            state.quietBeats = 0
            state.phase = .live
            return true
        }
    }

    /// Adds a page of the shared reader, perhaps only its mark; returns the task to resume.
    ///
    /// A mark without changes may acknowledge mutations at the position that the listener has.
    func push(_ events: BufferedBytes, at position: ChangeCursor, isMark: Bool) -> Wake? {
        state.withLock { state in
            switch state.phase {
            case .behind, .ended: return nil
            case .live:
                if let told = state.told, isMark ? position < told : position <= told { return nil }
            case .attending: break
            }
            let size = state.size + events.bytes.count
            guard state.parcels.isEmpty || size <= maximumBytes else { return Self.cutOff(&state) }
            state.quietBeats = 0
            if state.phase == .live { state.told = position }
            return state.give(events, position)
        }
    }

    var waitingBytes: Int { state.withLock { $0.size } }

    /// Discards the backlog of a slow listener; returns the task to resume.
    func cutOff() -> Wake? { state.withLock { Self.cutOff(&$0) } }

    /// Ends a live listener; one that reads for itself continues.
    private static func cutOff(_ state: inout State) -> Wake? {
        guard state.phase != .ended else { return nil }
        state.phase = state.phase == .live ? .ended : .behind
        state.clear()
        return state.wake()
    }

    /// Ends the listener; returns the task to resume.
    func abandon() -> Wake? {
        state.withLock { state in
            state.phase = .ended
            state.clear()
            return state.wake()
        }
    }

    /// Counts a beat and returns the task to resume; after three beats without an event, sends a checkpoint or a
    /// comment.
    func beat(reached: ChangeCursor?, mark: BufferedBytes, comment: BufferedBytes) -> Wake? {
        state.withLock { state in
            guard state.phase == .live, state.parcels.isEmpty else { return nil }
            state.quietBeats += 1
            guard state.quietBeats >= 3 else { return nil }
            state.quietBeats = 0
            if let reached, let told = state.told, told < reached {
                state.told = reached
                return state.give(mark, reached)
            }
            return state.give(comment, state.told)
        }
    }

    func fallBehind() -> Wake? {
        state.withLock { state in
            guard state.phase != .ended else { return nil }
            // The backlog of a live listener is before its position and is still sent. The collected events of an
            // attending listener are included in its next read.
            if state.phase == .attending { state.clear() }
            state.phase = .behind
            return state.wake()
        }
    }
}

final class ByteCount: Sendable {
    private let count = Mutex(0)
    private let whole: ByteCount?
    private let dropped: Signal?

    /// Creates a part of `whole`; `dropped` is raised when bytes are subtracted.
    init(in whole: ByteCount? = nil, dropped: Signal? = nil) {
        self.whole = whole
        self.dropped = dropped
    }

    var value: Int { count.withLock { $0 } }

    func add(_ bytes: Int) {
        count.withLock { $0 += bytes }
        whole?.add(bytes)
        if bytes < 0 { dropped?.raise() }
    }

    /// Adds bytes unless that exceeds `most`; returns whether they were added.
    func add(_ bytes: Int, upTo most: Int) -> Bool {
        let isAdded = count.withLock { count in
            guard count + bytes <= most else { return false }
            count += bytes
            return true
        }
        if isAdded { whole?.add(bytes) }
        return isAdded
    }
}

/// Bytes of events or of a document that are counted while they are in use.
///
/// Listeners that share the bytes hold the same object.
final class BufferedBytes: Sendable {
    let bytes: [UInt8]
    private let total: ByteCount

    init(_ bytes: [UInt8], in total: ByteCount) {
        self.bytes = bytes
        self.total = total
        total.add(bytes.count)
    }

    deinit { total.add(-bytes.count) }
}

/// A number of bytes that is part of a total as long as the object exists.
final class CountedBytes: Sendable {
    private let count = Mutex(0)
    private let total: ByteCount

    init(in total: ByteCount) { self.total = total }

    func set(_ bytes: Int) {
        let growth = count.withLock { count in
            defer { count = bytes }
            return bytes - count
        }
        if growth != 0 { total.add(growth) }
    }

    /// Replaces the number by a larger one, unless the total would then exceed both this number and a limit; returns
    /// whether it did.
    func raise(to bytes: Int, upTo most: Int) -> Bool {
        count.withLock { count in
            guard total.add(bytes - count, upTo: max(bytes, most)) else { return false }
            count = bytes
            return true
        }
    }

    deinit { total.add(-count.withLock { $0 }) }
}
