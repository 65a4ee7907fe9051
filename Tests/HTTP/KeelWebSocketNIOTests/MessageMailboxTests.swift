#if WebSocket
import KeelHTTP
import KeelWebSocket
import Synchronization
import Testing

@testable import KeelWebSocketNIO

@Suite("Messages waiting for the reader")
struct MessageMailboxTests {
    /// Removes the next message, so that nothing else retains its bytes.
    private func next(_ mailbox: MessageMailbox) -> [UInt8] {
        switch mailbox.take() {
        case .outcome(.success(.binary(let bytes))), .lastStraw(.binary(let bytes)): bytes
        default: []
        }
    }

    /// Returns whether the array has the only reference to its bytes.
    private func isUnshared(_ bytes: inout [UInt8]) -> Bool {
        let before = bytes.withUnsafeBytes { $0.baseAddress }
        bytes[0] &+= 1
        return bytes.withUnsafeBytes { $0.baseAddress } == before
    }

    @Test("A message that was taken out is not kept in memory, however many came before")
    func letsGo() {
        let mailbox = MessageMailbox(capacity: 1 << 20)
        // A burst makes the queue long.
        for _ in 0..<700 { _ = mailbox.deliver(.binary([1])) }
        var shared = 0
        for _ in 0..<700 {
            var bytes = next(mailbox)
            if !isUnshared(&bytes) { shared += 1 }
        }
        for _ in 0..<300 {
            _ = mailbox.deliver(.binary([UInt8](repeating: 1, count: 1000)))
            var bytes = next(mailbox)
            #expect(bytes.count == 1000)
            if !isUnshared(&bytes) { shared += 1 }
        }
        #expect(shared == 0)
    }

    @Test("The silence of a connection that was not read is not that of the peer")
    func silence() {
        let mailbox = MessageMailbox(capacity: 1000)
        while mailbox.deliver(.binary([1])) {}
        let arrivals = mailbox.arrivals.load(ordering: .relaxed)
        while mailbox.isFull { _ = mailbox.take() }
        #expect(mailbox.arrivals.load(ordering: .relaxed) > arrivals)
    }

    @Test("Messages keep their order, even if the queue wraps around")
    func order() {
        let mailbox = MessageMailbox(capacity: 1 << 20)
        var (sent, received) = (0, 0)
        for round in 0..<100 {
            for _ in 0..<(round % 7 + 3) {
                _ = mailbox.deliver(.binary([UInt8(truncatingIfNeeded: sent)]))
                sent += 1
            }
            for _ in 0..<(round % 5 + 2) where received < sent {
                #expect(next(mailbox) == [UInt8(truncatingIfNeeded: received)])
                received += 1
            }
        }
        while received < sent {
            #expect(next(mailbox) == [UInt8(truncatingIfNeeded: received)])
            received += 1
        }
    }
}
#endif
