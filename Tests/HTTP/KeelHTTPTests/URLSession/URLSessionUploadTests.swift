#if URLSession
import Foundation
import HTTPTypes
import KeelTestKit
import Synchronization
import Testing

@testable import KeelHTTP

@Suite("Bodies written into a stream of URLSession", .timeLimit(.minutes(1)))
struct URLSessionUploadTests {
    /// The writing end of two bound streams, with a reader controlled by the tests.
    private final class BoundOutput: OutputStream {
        private struct Ends {
            var room: Int
            var written: [UInt8] = []
            var isGone = false
        }

        private let ends: Mutex<Ends>
        let (closed, closing) = AsyncStream.makeStream(of: Void.self)

        init(room: Int) {
            ends = Mutex(Ends(room: room))
            super.init(toMemory: ())
        }

        required init(toMemory: ()) {
            ends = Mutex(Ends(room: 0))
            super.init(toMemory: ())
        }

        override func open() {}
        override func close() { closing.finish() }
        override var hasSpaceAvailable: Bool { ends.withLock { $0.room > 0 || $0.isGone } }

        override func write(_ buffer: UnsafePointer<UInt8>, maxLength length: Int) -> Int {
            ends.withLock { ends in
                guard !ends.isGone else { return -1 }
                let count = min(length, ends.room)
                ends.written += UnsafeBufferPointer(start: buffer, count: count)
                ends.room -= count
                return count
            }
        }

        var written: [UInt8] { ends.withLock { $0.written } }
        func makeRoom(_ count: Int) { ends.withLock { $0.room += count } }
        func letGo() { ends.withLock { $0.isGone = true } }
    }

    private let clock = TestClock()
    private let failures = Watched<[TransportError.Code]>([])

    private func upload(_ body: HTTPBody) -> URLSessionUpload {
        URLSessionUpload(body, clock: clock) { [failures] error in
            failures.change { $0.append(error.code) }
        }
    }

    private func body(
        _ pieces: [[UInt8]],
        length: Int64? = nil,
        isReplayable: Bool = true,
        thenThrow error: TransportError? = nil
    ) -> HTTPBody {
        HTTPBody(length: length, isReplayable: isReplayable) { () async throws(TransportError) in
            .chunks(pieces, thenThrow: error)
        }
    }

    @Test("A body is written no faster than it is read, and the stream is closed at its end")
    func waitsForRoom() async throws {
        let output = BoundOutput(room: 3)
        let progress = Mutex<[Int64]>([])
        let observed = body([[1, 2], [3, 4, 5], [6]], length: 6).observed(
            by: .progress { now in progress.withLock { $0.append(now.completedBytes) } }
        )
        let upload = upload(observed)
        #expect(upload.begin(writingTo: output))
        await clock.waitForSleepers()
        #expect(output.written == [1, 2, 3])
        // A chunk that does not fit yet is not reported as sent.
        #expect(progress.withLock { $0 } == [0, 2])
        output.makeRoom(2)
        await clock.advance(by: URLSessionUpload.pause)
        await clock.waitForSleepers()
        #expect(progress.withLock { $0 } == [0, 2, 5])
        output.makeRoom(10)
        await clock.advance(by: URLSessionUpload.pause)
        for await _ in output.closed {}
        #expect(output.written == [1, 2, 3, 4, 5, 6])
        #expect(progress.withLock { $0 } == [0, 2, 5, 6])
        #expect(failures.value == [])
    }

    @Test("A replayable body restarts when the session asks for it")
    func beginsAgain() async throws {
        for isReplayable in [true, false] {
            let (first, second) = (BoundOutput(room: 1), BoundOutput(room: 10))
            let upload = upload(body([[1, 2]], isReplayable: isReplayable))
            #expect(upload.begin(writingTo: first))
            await clock.waitForSleepers()
            #expect(upload.begin(writingTo: second) == isReplayable)
            if !isReplayable { upload.cancel() }
            for await _ in first.closed {}
            #expect(first.written == [1])
            guard isReplayable else { continue }
            for await _ in second.closed {}
            #expect(second.written == [1, 2])
        }
        #expect(failures.value == [])
    }

    @Test(
        "A body that fails or has a length other than announced ends the exchange",
        arguments: [
            (nil, TransportError(.unknown), .bodyProducerFailed), (4, nil, .invalidRequest),
            (2, nil, .invalidRequest),
        ] as [(Int64?, TransportError?, TransportError.Code)]
    )
    func fails(length: Int64?, error: TransportError?, code: TransportError.Code) async throws {
        let upload = upload(body([[1], [2, 3]], length: length, thenThrow: error))
        #expect(upload.begin(writingTo: BoundOutput(room: 10)))
        try await waitUntil { failures.value == [code] }
    }

    @Test("Writing ends silently when the session releases it or the exchange ends")
    func ends() async throws {
        let gone = BoundOutput(room: 0)
        let first = upload(body([[1]]))
        #expect(first.begin(writingTo: gone))
        await clock.waitForSleepers()
        gone.letGo()
        await clock.advance(by: URLSessionUpload.pause)
        for await _ in gone.closed {}

        let dropped = BoundOutput(room: 0)
        var second: URLSessionUpload? = upload(body([[1]]))
        #expect(second?.begin(writingTo: dropped) == true)
        await clock.waitForSleepers()
        second = nil
        for await _ in dropped.closed {}
        let over = upload(body([[1]]))
        over.cancel()
        #expect(!over.begin(writingTo: BoundOutput(room: 1)))
        #expect(failures.value == [])
    }
}
#endif
