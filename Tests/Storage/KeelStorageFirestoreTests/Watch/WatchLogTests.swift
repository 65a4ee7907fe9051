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
}
