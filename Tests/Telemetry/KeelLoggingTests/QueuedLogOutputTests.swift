#if Logging

import KeelTestKit
import Logging
import Synchronization
import Testing

@testable import KeelLogging

#if Observability
import CoreMetrics
import MetricsTestKit
#endif

@Suite("A queue before a slow output")
struct QueuedLogOutputTests {
    private let slow = MemoryLogOutput()
    private let worker = HeldWorker()

    private func queue(count: Int = 10, bytes: Int = 1 << 20) -> QueuedLogOutput<MemoryLogOutput> {
        QueuedLogOutput(slow, countLimit: count, byteLimit: bytes, worker: worker.worker)
    }

    @Test("A record is queued at once and written later, in order")
    func order() {
        let output = queue()
        for number in 0..<5 {
            output.write(.sample("\(number)", level: number < 3 ? .error : .info))
        }
        #expect(slow.records.isEmpty)
        #expect(output.waitingCount == 5)
        worker.work()
        #expect(slow.records.map(\.message) == ["0", "1", "2", "3", "4"])
        #expect(output.statistics.written == 5)
        #expect(output.statistics.dropped.total == 0)
    }

    @Test("A full queue drops the least severe records first and reports their number")
    func overload() {
        let output = queue()
        for number in 0..<100 {
            output.write(.sample("debug \(number)", level: .debug))
            output.write(.sample("info \(number)", level: .info))
            if number % 25 == 0 { output.write(.sample("error \(number)", level: .error)) }
        }
        #expect(output.waitingCount == 10)
        worker.work()
        let records = slow.records
        #expect(records.count { $0.level == .error } == 4)
        #expect(records.count { $0.level == .info } == 6)
        #expect(records.count { $0.level == .debug } == 0)
        #expect(output.statistics.dropped[.debug] == 100)
        #expect(output.statistics.dropped[.info] == 94)
        #expect(output.statistics.dropped[.error] == 0)
        #expect(records.last?.message == "dropped 194 log records: the output is too slow")
        #expect(records.last?["log.dropped.debug"] == .text("100"))
        #expect(records.last?["log.dropped.info"] == .text("94"))
        worker.work()
        #expect(slow.records.count == 11, "told once")
    }

    @Test("An error is dropped only if the queue contains only errors")
    func onlyErrors() {
        let output = queue(count: 3)
        for number in 0..<5 { output.write(.sample("\(number)", level: .error)) }
        worker.work()
        #expect(slow.records.map(\.message).prefix(3) == ["0", "1", "2"])
        #expect(output.statistics.dropped[.error] == 2)
    }

    @Test("Memory is also bounded by bytes, and a record beyond the limit drops only itself")
    func bytes() {
        let output = queue(count: 1000, bytes: 4096)
        output.write(.sample("small", level: .debug))
        output.write(.sample(String(repeating: "x", count: 5000), level: .critical))
        #expect(output.statistics.dropped[.critical] == 1)
        for _ in 0..<1000 { output.write(.sample(String(repeating: "x", count: 100))) }
        #expect(output.waitingCount < 40)
        worker.work()
        #expect(slow.records.first?.message != "small", "a record of a higher level took its place")
    }

    @Test("Dropped records are reported even under endless load")
    func endless() {
        let output = queue(count: 4)
        let told = Mutex(0)
        let endless = EndlessOutput { record in
            if record.label == "keel.logging" { told.withLock { $0 += 1 } }
        }
        let loaded = QueuedLogOutput(
            endless,
            countLimit: 4,
            byteLimit: 1 << 20,
            worker: worker.worker
        )
        endless.refill = { left in
            guard left > 0 else { return }
            for _ in 0..<8 { loaded.write(.sample()) }
        }
        loaded.write(.sample())
        worker.work()
        #expect(told.withLock { $0 } >= 4)
        withExtendedLifetime(output) {}
    }

    @Test("Synchronizing writes the queue and synchronizes the output, as does a critical record")
    func synchronizing() {
        let output = queue()
        var handler = OutputLogHandler(label: "x", output: output, level: .trace)
        handler.logLevel = .trace
        let logger = Logger(label: "x") { [handler] _ in handler }
        logger.info("a")
        #expect(slow.records.isEmpty)
        logger.critical("b")
        #expect(slow.records.map(\.message) == ["a", "b"])
        #expect(slow.synchronizedCount == 1)
    }

    @Test("Synchronizing writes the queue although the thread that begins the writing is late")
    func synchronizingBeforeOthersBegin() {
        let (target, held) = (slow, worker)
        let meanwhile = Mutex<(@Sendable () -> Void)?>(nil)
        let late = LogWorker(
            begin: { work in
                // The first thread has queued its record here, and has not reached the worker.
                let others = meanwhile.withLock { $0.take() }
                others?()
                held.begin(work)
            },
            wait: { held.work() }
        )
        let output = QueuedLogOutput(target, countLimit: 10, byteLimit: 1 << 20, worker: late)
        let written = Mutex([String]())
        meanwhile.withLock { others in
            others = {
                output.write(.sample("last words", level: .critical))
                output.synchronize()
                written.withLock { $0 = target.records.map(\.message) }
            }
        }
        output.write(.sample("first"))
        #expect(written.withLock { $0 } == ["first", "last words"])
        held.work()
        #expect(target.records.count == 2)
    }

    #if Observability
    @Test("Dropped records are counted by level and output if metrics are enabled")
    func metrics() throws {
        let metrics = TestMetrics()
        withMetricsFactory(metrics) {
            let output = queue(count: 2)
            for _ in 0..<3 { output.write(.sample(level: .debug)) }
            output.write(.sample(level: .error))
        }
        let debug = try metrics.expectCounter(
            "keel.log.dropped",
            [("level", "debug"), ("output", "queue")]
        )
        #expect(debug.values == [1, 1])
        #expect(metrics.counters.count == 1)
    }
    #endif

    @Test("On a system thread, records from many threads all arrive")
    func threads() async {
        let output = slow.queued(countLimit: 100_000)
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<1000 { output.write(.sample("\(task) \(number)")) }
                }
            }
        }
        output.synchronize()
        #expect(slow.records.count == 8000)
        for task in 0..<8 {
            let own = slow.records.map(\.message).filter { $0.hasPrefix("\(task) ") }
            #expect(own == (0..<1000).map { "\(task) \($0)" })
        }
    }
}

/// A worker that does nothing until it is released.
private final class HeldWorker: Sendable {
    private let waiting = Mutex<[@Sendable () -> Void]>([])

    var worker: LogWorker {
        LogWorker(begin: { self.begin($0) }, wait: { self.work() })
    }

    func begin(_ work: @escaping @Sendable () -> Void) {
        waiting.withLock { $0.append(work) }
    }

    func work() {
        while let work = waiting.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { work() }
    }
}

/// An output that causes more logging while it writes, thousands of times.
private final class EndlessOutput: LogOutput {
    private let seen: @Sendable (LogRecord) -> Void
    private let state = Mutex<(left: Int, refill: (@Sendable (Int) -> Void)?)>((5000, nil))

    init(_ seen: @escaping @Sendable (LogRecord) -> Void) { self.seen = seen }

    var refill: (@Sendable (Int) -> Void)? {
        get { state.withLock { $0.refill } }
        set { state.withLock { $0.refill = newValue } }
    }

    func write(_ record: LogRecord) {
        seen(record)
        let (left, refill) = state.withLock { state in
            state.left -= 1
            return (state.left, state.refill)
        }
        refill?(left)
    }

    func synchronize() {}
}

#endif
