import KeelStorage
import KeelStorageAdapting
import Synchronization
import Testing

@testable import KeelServing

@Suite("Changes that wait for streams")
struct ListenMailboxTests {
    private static func page(
        _ body: DocumentBody,
        at path: DocumentPath,
        next: [UInt8]
    ) -> ChangePage {
        let document = Document(
            path: path,
            body: body,
            revision: Revision(number: 1),
            createTime: Timestamp(microseconds: 1),
            updateTime: Timestamp(microseconds: 1)
        )
        let next = ChangeCursor(bytes: next)
        return ChangePage(changes: [.current(document)], next: next, isCaughtUp: true)
    }

    @Test("A stream that does not take its changes reads for itself before they fill the memory")
    func largeChanges() {
        let mailbox = ListenMailbox(id: 1)
        let large = String(repeating: "x", count: 900_000)
        let body = DocumentBody(["text": .string(large)])
        let bodies = [BufferedBytes(body.bytes, in: ByteCount())]
        func page(_ number: Int) -> ChangePage {
            Self.page(body, at: "a/\(number)", next: [1, UInt8(number)])
        }
        mailbox.attend(from: nil)
        #expect(mailbox.join(at: ChangeCursor(bytes: [1]), start: ChangeCursor(bytes: [1])))
        for number in 0..<15 { mailbox.push(page(number), bodies) }
        #expect(mailbox.isLive && mailbox.take().count == 15)
        for number in 0..<40 { mailbox.push(page(number), bodies) }
        #expect(!mailbox.isLive && mailbox.take().isEmpty)
    }

    @Test("What waits for streams is counted once, until it is taken, dropped, or they are gone")
    func waitingBytes() {
        let total = ByteCount()
        let start = ChangeCursor(bytes: [1])
        let body = DocumentBody(["text": .string(String(repeating: "x", count: 10_000))])
        func bodies() -> [BufferedBytes] { [BufferedBytes(body.bytes, in: total)] }
        func page(_ number: UInt8) -> ChangePage { Self.page(body, at: "a/1", next: [number]) }
        do {
            let mailboxes = (0..<2).map { ListenMailbox(id: $0, in: total) }
            for mailbox in mailboxes { mailbox.attend(from: nil) }
            Self.push(page(2), bodies(), to: mailboxes)
            for mailbox in mailboxes { #expect(mailbox.join(at: start, start: start)) }
            #expect(mailboxes.allSatisfy { $0.waitingBytes > 10_000 })
            #expect(total.value > 10_000 && total.value < 15_000)
            #expect(mailboxes[0].take().count == 1)
            #expect(total.value == mailboxes[1].waitingBytes)
            mailboxes[1].fallBehind()
            #expect(total.value == 0)
            Self.push(page(3), bodies(), to: [mailboxes[0]])
            #expect(total.value > 10_000)
        }
        #expect(total.value == 0)
    }

    @Test("A stream is notified once until it asks for pages, and not while it reads for itself")
    func news() {
        let count = Mutex(0)
        let mailbox = ListenMailbox(id: 1, onNews: { count.withLock { $0 += 1 } })
        var news: Int { count.withLock { $0 } }
        func page(_ number: UInt8) -> ChangePage {
            ChangePage(changes: [], next: ChangeCursor(bytes: [number]), isCaughtUp: true)
        }
        let start = ChangeCursor(bytes: [1])
        mailbox.attend(from: nil)
        mailbox.push(page(2), [])
        #expect(news == 0)
        #expect(mailbox.join(at: start, start: start))
        #expect(mailbox.take().count == 1)
        for number in UInt8(3)...5 { mailbox.push(page(number), []) }
        #expect(news == 1)
        #expect(mailbox.take().count == 3)
        mailbox.push(page(6), [])
        #expect(news == 2)
        // Nothing was asked for: the stream learns of this, too, when it does.
        mailbox.fallBehind()
        #expect(news == 2)
        #expect(mailbox.take().isEmpty && !mailbox.isLive)
        // A stream that begins anew has not heard of anything.
        mailbox.fallBehind()
        #expect(news == 3)
        mailbox.attend(from: nil)
        #expect(mailbox.join(at: start, start: start))
        mailbox.push(page(7), [])
        #expect(news == 4)
    }

    private static func push(
        _ page: ChangePage,
        _ bodies: [BufferedBytes],
        to mailboxes: [ListenMailbox]
    ) {
        for mailbox in mailboxes { mailbox.push(page, bodies) }
    }
}
