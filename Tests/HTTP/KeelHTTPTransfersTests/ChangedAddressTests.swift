import HTTPTypes
import KeelCore
import KeelHTTP
import KeelHTTPTransfers
import KeelTestSupport
import Synchronization
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
            await expectError(TransferError.self, .digestMismatch) {
                _ = try await second.run(observer: events.observer)
            }
        } else {
            _ = try await second.run(observer: events.observer)
        }
        #expect(events.restarts == (isContinued ? [] : [.otherAddress]))
        guard !hasDigest, rule == nil else { return }
        #expect(files.disk["/disk/film.mp4"] == content)
    }

    /// Signs calls for a user, and may find another one when it is asked again.
    private final class Signing: HTTPAuthorizing {
        private let names: Mutex<[String]>

        init(_ names: String...) { self.names = Mutex(names) }

        var identity: String? { names.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }

        func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
            try await next(call)
        }
    }

    private func download(
        _ transport: RangeOrigin,
        _ files: SimulatedFileSystem,
        for user: any HTTPMiddleware,
        _ change: (inout ResumableDownload.Configuration) -> Void = { _ in }
    ) throws -> ResumableDownload {
        var settings = try Fixture.client(transport).configuration
        settings.attemptMiddleware = [user]
        var configuration = ResumableDownload.Configuration()
        configuration.checkpointByteCount = 4000
        configuration.retry.policy = .never
        change(&configuration)
        return ResumableDownload(
            from: try Fixture.url("film.mp4"),
            to: Fixture.file,
            through: NetworkClient(settings, transport: transport),
            configuration: configuration,
            files: files,
            shared: files
        )
    }

    @Test(
        "A download is resumed for its user, and not for another one",
        arguments: [nil, .resume, .restart] as [ResumableDownload.ChangedAddress?]
    )
    func users(rule: ResumableDownload.ChangedAddress?) async throws {
        let files = SimulatedFileSystem()
        func interrupt() async throws {
            let origin = RangeOrigin(first, seed: 4, rate: 1, faults: [.brokenBody])
            await #expect(throws: TransferError.self) {
                _ = try await download(origin, files, for: Signing("ann")).run()
            }
        }
        try await interrupt()
        // The address has another file of the same length under the same tag for each user.
        let content = first.map { ~$0 }
        let events = Events()
        let ben = try download(RangeOrigin(content, seed: 4), files, for: Signing("ben")) {
            if let rule { $0.changedAddress = rule }
        }
        _ = try await ben.run(observer: events.observer)
        #expect(events.restarts == [.otherAddress])
        #expect(files.disk["/disk/film.mp4"] == content)
        try await interrupt()
        let ann = try download(RangeOrigin(first, seed: 4), files, for: Signing("ann"))
        #expect(try await ann.run().resumedBytes > 0)
        #expect(files.disk["/disk/film.mp4"] == first)
    }

    @Test("A download ends if its first request was sent for a passing user")
    func passingUser() async throws {
        let files = SimulatedFileSystem()
        let error = await #expect(throws: TransferError.self) {
            _ = try await download(RangeOrigin(first), files, for: PassingUser()).run()
        }
        #expect((error?.cause as? TransportError)?.code == .credentialsUnavailable)
        #expect(files.disk["/disk/film.mp4"] == nil)
    }

    @Test("A download ends if another user signs in before its first request is answered")
    func userChangedAtStart() async throws {
        let files = SimulatedFileSystem()
        let changing = Signing("ann", "ben")
        let error = await #expect(throws: TransferError.self) {
            _ = try await download(RangeOrigin(first), files, for: changing).run()
        }
        #expect((error?.cause as? TransportError)?.code == .credentialsUnavailable)
        #expect(files.disk["/disk/film.mp4"] == nil)
    }
}
