import KeelStorage
import KeelStorageAdapting
import Testing

@testable import KeelStorageFirestore

@Suite("The last changes of a target")
struct WatchLogTests {
    private func time(_ second: Int64) -> Timestamp { Timestamp(microseconds: second * 1_000_000) }

    private func publication(_ second: Int64, _ byteCount: Int) -> WatchMachine.Publication {
        let document = Document(
            path: "a/1",
            body: DocumentBody(bytes: [UInt8](repeating: 0, count: byteCount)),
            revision: Revision(number: second),
            createTime: time(1),
            updateTime: time(second)
        )
        return WatchMachine.Publication(
            changes: [.current(document)],
            time: time(second),
            token: []
        )
    }

    @Test("Changes are kept up to a number of bytes")
    func bounds() {
        var log = WatchLog(from: nil)
        for second in 1...20 { log.append(publication(Int64(second), 1 << 20), count: 1) }
        #expect(log.changes(after: time(3)) == nil)
        #expect(log.changes(after: time(4))?.count == 1)
        #expect(log.changes(after: time(20))?.isEmpty == true)
    }

    @Test("A reader receives the second of two states at one time, and receives it once")
    func numbers() {
        var log = WatchLog(from: nil)
        log.append(publication(1, 10), count: 1)
        var correction = publication(1, 20)
        correction.number = 1
        log.append(correction, count: 1)
        #expect(log.changes(after: time(1)) == correction.changes)
        #expect(log.changes(after: time(1), number: 1)?.isEmpty == true)
        #expect(log.point?.number == 1)
        log.expire()
        correction.number = 2
        log.append(correction, count: 1)
        #expect(log.changes(after: time(1), number: 1) == nil)
    }

    @Test("The order of cursors is that of the states, also at one time")
    func cursors() throws {
        let subject = WatchSubject.documents(["a/1"])
        let point = WatchMachine.Resumption(token: [7], time: time(1), count: 2)
        let later = WatchMachine.Resumption(token: [7], time: time(1), number: 1, count: 1)
        let cursors = [point, later].map { WatchCursor($0, for: nil).cursor(of: subject) }
        #expect(cursors[0] < cursors[1])
        let points = try cursors.map { try WatchCursor($0, of: subject, for: nil).point }
        #expect(points == [point, later])
    }

    @Test("A cursor continues for the user whose result it is")
    func users() async throws {
        let subject = WatchSubject.documents(["a/1"])
        let point = WatchMachine.Resumption(token: [7], time: time(1), count: 2)
        let cursor = WatchCursor(point, for: "ann").cursor(of: subject)
        #expect(try WatchCursor(cursor, of: subject, for: "ann").point == point)
        for user in ["ben", nil] {
            await expect(.cursorExpired) { _ = try WatchCursor(cursor, of: subject, for: user) }
        }
        // A cursor of an earlier version has no user.
        var bytes = cursor.bytes
        bytes[0] = 2
        bytes.removeSubrange(21..<29)
        let former = ChangeCursor(bytes: bytes)
        await expect(.cursorExpired) { _ = try WatchCursor(former, of: subject, for: "ann") }
    }
}
