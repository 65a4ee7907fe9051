internal import KeelCore
package import KeelStorage
package import KeelStorageAdapting
internal import KeelTestKit
internal import Synchronization
import Testing

/// A walk of a wall clock through other years and back while documents are written, with invariants of the store.
///
/// The times of a document follow the wall clock, right or wrong, and increase with each change of the document. The
/// commit time of the store never goes backward and names a state that can be read again. Once the clock is right, so
/// is the time of every document that is not ahead of it.
package struct ClockWalk: Sendable {
    package final class Wall: Sendable {
        private let time = Mutex(Timestamp(microseconds: 1_780_000_000_000_000))

        package init() {}

        package var now: Timestamp { time.withLock { $0 } }

        package func set(_ now: Timestamp) { time.withLock { $0 = now } }

        package func move(by duration: Duration) { time.withLock { $0 = $0.moved(by: duration) } }
    }

    package let seed: UInt64
    package let steps: Int
    package let wall = Wall()

    package init(seed: UInt64 = SeededRandom.chosenSeed(), steps: Int = 1_500) {
        self.seed = seed
        self.steps = steps
    }

    /// Runs the walk on a store, which takes the time from ``wall``.
    ///
    /// `history` is the minimum age of the store's history, nil if it keeps none; `pass` lets time pass on a monotonic
    /// clock; `reopen` closes and reopens the store, and is called occasionally.
    package func run(
        on adapter: any StorageAdapter,
        history: Duration?,
        pass: (Duration) async -> Void = { _ in },
        reopen: (any StorageAdapter) async throws -> any StorageAdapter = { $0 }
    ) async throws {
        print("ClockWalk: seed \(seed)")
        var run = ClockWalkRun(adapter: adapter, wall: wall, history: history, seed: seed)
        for step in 0..<steps {
            // An adapter that never suspends would block other tests.
            await Task.yield()
            await pass(run.goOn())
            if let flaw = try await run.step() {
                Issue.record("seed \(seed), step \(step), \(run.position): \(flaw)")
                return
            }
            if run.random.hits(1, in: 60) { run.adapter = try await reopen(run.adapter) }
        }
        if let flaw = try await run.finish() { Issue.record("seed \(seed), at the end: \(flaw)") }
    }
}

private struct ClockWalkRun {
    private struct Moment {
        let time: Timestamp
        let truth: Timestamp
        let documents: [DocumentPath: Document]
    }

    /// The bounds of the time at which a document was last changed or removed.
    private struct Bounds {
        var earliest: Timestamp
        var latest: Timestamp
    }

    var adapter: any StorageAdapter
    var random: SeededRandom
    private let wall: ClockWalk.Wall
    private let history: Duration?
    private let collection: CollectionPath
    private var truth: Timestamp
    private var offset = Duration.zero
    private var documents: [DocumentPath: Document] = [:]
    private var bounds: [DocumentPath: Bounds] = [:]
    /// The times of the last removals that commits have reported.
    private var removals: [DocumentPath: Timestamp] = [:]
    private var time = Timestamp(microseconds: .min)
    private var moments: [Moment] = []
    private var cursor: ChangeCursor?
    private var copy: [DocumentPath: Document] = [:]
    private var copyTime: Timestamp?

    init(adapter: any StorageAdapter, wall: ClockWalk.Wall, history: Duration?, seed: UInt64) {
        self.adapter = adapter
        self.wall = wall
        self.history = history
        random = SeededRandom(seed: seed)
        truth = wall.now
        collection = CollectionPath("walk\(seed)")
    }

    var position: String { "true time \(truth), the clock is off by \(offset)" }

    mutating func goOn() -> Duration {
        let passed = Duration.microseconds(
            random.pick([1, 1_000, 1_000_000, 60_000_000, 300_000_000])
        )
        truth = truth.moved(by: passed)
        // The clock is right at first: a store that is made by a wrong clock cannot know that the next one is right.
        if !documents.isEmpty, random.hits(1, in: 6) {
            let year = Duration.seconds(365 * 86_400)
            offset = random.pick([
                .zero, .zero, .zero, year * 14, year * -56, .milliseconds(400), .milliseconds(-400),
            ])
        }
        wall.set(truth.moved(by: offset))
        return passed
    }

    /// Writes, follows the log and reads the past; returns a description of a flaw, if any.
    mutating func step() async throws -> String? {
        if let flaw = try await write() { return flaw }
        if random.hits(1, in: 3), let flaw = try await follow() { return flaw }
        return random.hits(1, in: 3) ? try await lookBack() : nil
    }

    // MARK: Writing

    private mutating func write() async throws -> String? {
        let ids = ["a", "b", "c", "d", "e", "f"].shuffled(using: &random)
        let writes = ids.prefix(random.number(1...3)).map { id -> DocumentWrite in
            let path = collection.document(id)
            if random.hits(1, in: 3) { return DocumentWrite(path, .delete) }
            let stamp = FieldTransform("at", .serverTimestamp)
            let body = DocumentBody(["n": .integer(Int64(random.number(0...2)))])
            return DocumentWrite(path, .set(body, transforms: random.hits(1, in: 2) ? [stamp] : []))
        }
        let results = try await adapter.commit([WriteBatch(writes)])
        guard let receipt = try results.first?.get() else { return "a batch has no receipt" }
        let read = try await self.read()
        if receipt.commitTime < time { return "the commit’s time \(receipt.commitTime) went back" }
        var isChanged = false
        for (write, outcome) in zip(writes, receipt.outcomes) {
            let (before, after) = (documents[write.path], read.documents[write.path])
            let isTold = after == nil || outcome.updateTime == after?.updateTime
            guard isTold, outcome.revision == after?.revision else {
                return "the outcome of \(write) is \(outcome), and the document \(after as Any)"
            }
            guard before != after else { continue }
            isChanged = true
            if let flaw = take(after, before, at: write.path) { return flaw }
            guard after == nil, let time = outcome.updateTime, let bounds = bounds[write.path]
            else { continue }
            if time < bounds.earliest || time > bounds.latest {
                return "\(write.path) was removed at \(time), beyond \(bounds)"
            }
            removals[write.path] = time
        }
        documents = read.documents
        guard let told = read.time else { return history == nil ? nil : "a read tells no time" }
        if told < receipt.commitTime { return "a read at \(told) is before \(receipt.commitTime)" }
        if isChanged, receipt.commitTime <= time { return "two commits have one time" }
        time = told
        moments.append(Moment(time: told, truth: truth, documents: documents))
        return nil
    }

    private mutating func take(
        _ after: Document?,
        _ before: Document?,
        at path: DocumentPath
    ) -> String? {
        let (now, tick) = (wall.now, Duration.microseconds(1))
        let last = bounds[path]
        let earliest = max(now, last.map { $0.earliest.moved(by: tick) } ?? now)
        let right = now.moved(by: .seconds(1))
        let latest = max(right, last.map { $0.latest.moved(by: tick) } ?? right)
        guard let after else {
            // A removal may be timed by its position in the batch, after the other writes.
            let place = latest.moved(by: tick * 3)
            bounds[path] = Bounds(earliest: earliest, latest: place)
            return nil
        }
        let time = after.updateTime
        bounds[path] = Bounds(earliest: time, latest: time)
        if time < earliest { return "\(path) was changed at \(time), before \(earliest)" }
        if time > latest { return "\(path) was changed at \(time), after \(latest)" }
        if after.createTime != before?.createTime ?? time {
            return "\(path) was created at \(after.createTime)"
        }
        if let stamp = after["at"]?.timestampValue {
            if stamp > right || stamp < now.moved(by: .milliseconds(-1)) {
                return "\(path) has the time \(stamp) of a clock that shows \(now)"
            }
        }
        return nil
    }

    // MARK: Reading

    private var paths: [DocumentPath] {
        ["a", "b", "c", "d", "e", "f"].map { collection.document($0) }
    }

    private func read(
        asOf past: Timestamp? = nil
    ) async throws -> (documents: [DocumentPath: Document], time: Timestamp?) {
        var request = ReadRequest(.documents(paths))
        (request.needsTime, request.asOf) = (true, past)
        let result = try await adapter.read(request)
        guard case .documents(let found) = result.payload else { return ([:], nil) }
        let documents = found.compactMap { $0.map { ($0.path, $0) } }
        return (Dictionary(uniqueKeysWithValues: documents), result.time)
    }

    private mutating func follow() async throws -> String? {
        while true {
            let scope = ChangeScope.collections([collection])
            let page = try await adapter.changes(
                ChangeRequest(after: cursor, scope: scope, limit: random.number(1...4))
            )
            cursor = page.next
            for change in page.changes {
                if case .current(let document) = change { copy[document.path] = document }
                guard case .removed(let path, _, let time) = change else { continue }
                copy[path] = nil
                if let time, documents[path] == nil, let known = removals[path], known != time {
                    return "the removal of \(path) at \(known) is reported with the time \(time)"
                }
            }
            guard page.isCaughtUp else { continue }
            guard let told = page.time else {
                return history == nil ? nil : "a consistent point has no time"
            }
            if let copyTime, told < copyTime { return "a page’s time \(told) went back" }
            if history != nil {
                if told < time { return "a page has the time \(told), before the store’s \(time)" }
                // A server writes a record of its own before its first page.
                time = told
            }
            copyTime = told
            return copy == documents ? nil : "a copy differs from the store"
        }
    }

    private mutating func lookBack() async throws -> String? {
        guard let history else { return nil }
        // While it is wrong, a leaping clock costs a quarter of a short history.
        let oldest = truth.moved(by: .zero - history * 5 / 8)
        moments.removeAll { $0.truth < oldest }
        guard let moment = moments.randomElement(using: &random) else { return nil }
        let read = try await read(asOf: moment.time)
        if read.time != moment.time { return "a read as of \(moment.time) tells another time" }
        return read.documents == moment.documents
            ? nil : "a read as of \(moment.time) brings another state"
    }

    /// Sets the clock right and checks a new document.
    mutating func finish() async throws -> String? {
        offset = .zero
        truth = truth.moved(by: .seconds(2))
        wall.set(truth)
        let write = DocumentWrite(collection.document("new"), .set(DocumentBody(["n": 1])))
        let results = try await adapter.commit([WriteBatch([write])])
        guard let receipt = try results.first?.get() else { return "a batch has no receipt" }
        let limits = truth...truth.moved(by: .seconds(1))
        guard let time = receipt.outcomes.first?.updateTime, limits.contains(time) else {
            return "a new document has another time than the clock, which is right"
        }
        return nil
    }
}

extension Timestamp {
    fileprivate func moved(by duration: Duration) -> Timestamp {
        Timestamp(microseconds: microseconds + duration.microseconds)
    }
}
