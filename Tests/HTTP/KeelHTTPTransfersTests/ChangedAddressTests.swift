import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPTransfers
import KeelTestSupport
import Testing

@Suite("Downloads from a changed URL", .timeLimit(.minutes(1)))
struct ChangedAddressTests {
    /// A digest that depends on each byte and its position.
    private struct Sum: TransferDigest {
        private var sum: UInt64 = 0

        mutating func update(_ bytes: UnsafeRawBufferPointer) {
            for byte in bytes { sum = sum &* 31 &+ UInt64(byte) }
        }

        func finish() -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) } }

        static func expected(of content: [UInt8]) -> ExpectedDigest {
            var sum = Sum()
            content.withUnsafeBytes { sum.update($0) }
            return ExpectedDigest(sum.finish()) { Sum() }
        }
    }

    private let first = Fixture.bytes(20_000)

    @Test(
        "A download resumes from another URL only with a digest or the app's permission",
        arguments: [
            ("film.mp4?id=1", nil, false, true), ("film.mp4?id=2", nil, false, false),
            ("film.mp4", nil, false, false), ("other.mp4?id=1", nil, false, false),
            ("film.mp4?id=2", .resume, false, true), ("film.mp4?id=2", nil, true, true),
            ("other.mp4?id=1", nil, true, true),
        ] as [(String, ResumableDownload.ChangedAddress?, Bool, Bool)]
    )
    func sharedTags(
        address: String,
        rule: ResumableDownload.ChangedAddress?,
        hasDigest: Bool,
        isContinued: Bool
    ) async throws {
        let files = SimulatedFileSystem()
        let origin = RangeOrigin(first, seed: 4, rate: 1, faults: [.brokenBody])
        await #expect(throws: TransferError.self) {
            _ = try await Fixture.download(origin, files, from: "film.mp4?id=1") {
                $0.retry.policy = .never
            }.run()
        }
        // A different address serves another file of the same length under the same tag.
        let content = address == "film.mp4?id=1" ? first : first.map { ~$0 }
        let other = RangeOrigin(content, seed: 4)
        let events = Events()
        let second = try Fixture.download(other, files, from: address) {
            if let rule { $0.changedAddress = rule }
            if hasDigest { $0.expectedDigest = Sum.expected(of: content) }
        }
        if hasDigest {
            // The digest reveals that the part came from another file.
            let error = await #expect(throws: TransferError.self) {
                _ = try await second.run(observer: events.observer)
            }
            #expect(error?.code == .digestMismatch)
        } else {
            _ = try await second.run(observer: events.observer)
        }
        #expect(events.restarts == (isContinued ? [] : [.otherAddress]))
        guard !hasDigest, rule == nil else { return }
        #expect(files.disk["/disk/film.mp4"] == content)
    }
}
