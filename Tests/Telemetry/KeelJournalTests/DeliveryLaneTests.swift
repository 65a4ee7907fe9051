import KeelCore
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelJournal

/// What the fronts of logs and analytics cannot provoke.
@Suite("Delivery lane")
struct DeliveryLaneTests {
    private let files = SimulatedFileSystem()
    private let clock = TestClock()

    /// Receives one byte per record, and refuses some.
    private final class Receiver: DeliveryReceiver {
        let limits = (records: 100, bytes: Int.max)
        let state = Mutex((arrived: [UInt8](), isHeld: false))
        let answer: @Sendable ([UInt8]) -> DeliveryReply?

        init(answer: @escaping @Sendable ([UInt8]) -> DeliveryReply? = { _ in nil }) {
            self.answer = answer
        }

        var arrived: [UInt8] { state.withLock { $0.arrived } }

        func sort(_ record: JournalRecord) -> DeliveryDecision<UInt8> {
            guard let byte = record.bytes.first else { return .settle(.rejected("empty")) }
            return state.withLock { $0.isHeld } ? .hold : .send(byte, size: 1)
        }

        func send(_ batch: [UInt8], lost: Int) async -> DeliveryReply {
            if let reply = answer(batch) { return reply }
            state.withLock { $0.arrived += batch }
            return .settled(rejected: [:])
        }
    }

    private func lane(_ receiver: Receiver, _ journal: Journal) throws -> DeliveryLane<Receiver> {
        let random = Mutex(SeededRandom(seed: 3))
        return try DeliveryLane(
            receiver,
            from: try journal.consumer("a"),
            retry: RetryPolicy(baseDelay: .seconds(1), maximumDelay: .seconds(300)),
            misconfigurationDelay: .seconds(3600),
            clock: clock,
            random: { random.withLock { $0.next() } }
        )
    }

    private func journal(_ records: Range<UInt8>) throws -> Journal {
        var configuration = JournalConfiguration()
        configuration.recordLimit = 80
        let journal = try Journal(at: "/j", configuration: configuration, files: files)
        for byte in records { try journal.append([byte]) }
        return journal
    }

    @Test("A read that fails in a later segment passes over no record")
    func failingRead() async throws {
        let journal = try journal(0..<25)
        let receiver = Receiver()
        let lane = try lane(receiver, journal)
        files.fail { call in
            if case .open("/j/0000000000000003.journal") = call {
                FileSystemError.inputOutput
            } else {
                nil
            }
        }
        guard case .paused = await lane.deliver(isForced: true)
        else { return fail("The failure is not reported") }
        #expect(receiver.arrived.isEmpty)
        files.fail(nil)
        #expect(await lane.deliver(isForced: true) == .drained)
        #expect(receiver.arrived == Array(0..<25))
        #expect(lane.status.note.delivered == 25 && lane.status.failure == nil)
    }

    @Test("Held records are delivered once they are reconsidered")
    func held() async throws {
        let receiver = Receiver()
        let lane = try lane(receiver, try journal(0..<5))
        receiver.state.withLock { $0.isHeld = true }
        #expect(await lane.deliver() == .drained)
        receiver.state.withLock { $0.isHeld = false }
        #expect(await lane.deliver() == .drained)
        #expect(receiver.arrived.isEmpty)
        lane.reconsider()
        #expect(await lane.deliver() == .drained)
        #expect(receiver.arrived == Array(0..<5))
    }

    @Test("A shorter delay that the receiver asks for does not replace a longer one")
    func askedPauses() async throws {
        let replies = Mutex([Duration.seconds(10), .seconds(90)])
        let receiver = Receiver { _ in
            replies.withLock { $0.popLast() }
                .map { .postponed(DeliveryFailure("busy"), notBefore: $0) }
        }
        let lane = try lane(receiver, try journal(0..<5))
        _ = await lane.deliver(isForced: true)
        await clock.advance(by: .seconds(89))
        #expect(await lane.deliver(isForced: true) == .paused(.seconds(1)))
        await clock.advance(by: .seconds(1))
        #expect(await lane.deliver(isForced: true) != .drained)
        await clock.advance(by: .seconds(10))
        #expect(await lane.deliver(isForced: true) == .drained)
    }

    @Test(
        "A receiver cannot ask for a delay of more than an hour",
        arguments: [86_400, .max / 4] as [Int64]
    )
    func boundedPauses(seconds: Int64) async throws {
        let replies = Mutex([Duration.seconds(seconds)])
        let receiver = Receiver { _ in
            replies.withLock { $0.popLast() }
                .map { .postponed(DeliveryFailure("busy"), notBefore: $0) }
        }
        let lane = try lane(receiver, try journal(0..<5))
        _ = await lane.deliver(isForced: true)
        await clock.advance(by: .seconds(3_599))
        #expect(await lane.deliver(isForced: true) == .paused(.seconds(1)))
        await clock.advance(by: .seconds(1))
        #expect(await lane.deliver(isForced: true) == .drained)
    }

    @Test("After a bad record that was too large, batches have their size again")
    func batchSizes() async throws {
        let sizes = Mutex([Int]())
        let receiver = Receiver { batch in
            sizes.withLock { $0.append(batch.count) }
            return batch.contains(7)
                ? .refused(reason: "tooLarge", detail: "413", isTooLarge: true) : nil
        }
        let journal = try journal(0..<60)
        let lane = try lane(receiver, journal)
        #expect(await lane.deliver() == .drained)
        #expect(receiver.arrived.sorted() == (0..<60).filter { $0 != 7 })
        for byte in 60..<120 as Range<UInt8> { try journal.append([byte]) }
        #expect(await lane.deliver() == .drained)
        #expect(sizes.withLock { $0.last } == 60)
    }

    @Test(
        "Records that are discarded and erased during their request are counted, whatever follows"
    )
    func discardedUnderWay() async throws {
        let lanes = Mutex<DeliveryLane<Receiver>?>(nil)
        let journal = try journal(0..<5)
        let replies = Mutex([DeliveryReply.postponed(DeliveryFailure("busy"), notBefore: nil)])
        let receiver = Receiver { _ in
            guard let reply = replies.withLock({ $0.popLast() }) else { return nil }
            try? lanes.withLock { $0 }?.discard(as: .purged) { $0.bytes[0] < 3 }
            try? journal.erase { $0.bytes[0] < 3 }
            lanes.withLock { $0 }?.reconsider()
            return reply
        }
        let lane = try lane(receiver, journal)
        lanes.withLock { $0 = lane }
        #expect(try lane.prepare())
        _ = await lane.deliver()
        #expect(try lane.counted().note.purged == 3)
        #expect(await lane.deliver(isForced: true) == .drained)
        #expect(receiver.arrived == [3, 4])
        let status = try lane.counted()
        #expect(status.note.purged == 3 && status.note.delivered == 2)
        #expect(status.base == 0 && status.losses.pending == 0)
        lanes.withLock { $0 = nil }
    }
}
