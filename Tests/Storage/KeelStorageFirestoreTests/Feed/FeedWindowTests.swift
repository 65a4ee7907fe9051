import KeelStorage
import KeelStorageAdapting
import Testing

@testable import KeelStorageFirestore

@Suite("Windows of a feed’s streams")
struct FeedWindowTests {
    private static func cursor(_ number: UInt8) -> ChangeCursor { ChangeCursor(bytes: [number]) }

    /// Returns a page up to a consistent point.
    private static func page(
        _ next: UInt8,
        _ changes: [ChangePage.Change] = [],
        _ acknowledged: [String: Int64] = [:]
    ) -> ChangePage {
        ChangePage(
            changes: changes,
            next: cursor(next),
            isCaughtUp: true,
            acknowledged: acknowledged
        )
    }

    /// Returns the page of an answer.
    private static func page(_ answer: FeedWindow.Answer) -> ChangePage? {
        switch answer {
        case .page(let page), .nothing(let page): page
        case .elsewhere: nil
        }
    }

    @Test("A reader learns of mutations that a stream has acknowledged at earlier points")
    func acknowledges() throws {
        var window = FeedWindow(start: Self.cursor(1))
        _ = window.add(Self.page(1, [], ["a": 1]))
        _ = window.add(Self.page(2, [], ["b": 5]))
        _ = window.add(Self.page(3))
        let quiet = try #require(Self.page(window.answer(after: Self.cursor(1), limit: 10)))
        #expect(quiet.next == Self.cursor(3))
        #expect(quiet.acknowledged == ["a": 1, "b": 5])
        _ = window.add(Self.page(4, [.leftScope("a/1")], ["a": 2]))
        let news = try #require(Self.page(window.answer(after: Self.cursor(1), limit: 10)))
        #expect(news.changes.count == 1)
        #expect(news.acknowledged == ["a": 2, "b": 5])
    }

    @Test("A position that is not a consistent point acknowledges nothing")
    func progress() throws {
        var window = FeedWindow(start: Self.cursor(1))
        _ = window.add(Self.page(1, [], ["a": 1]))
        let progress = ChangePage(changes: [], next: Self.cursor(2), isCaughtUp: false)
        _ = window.add(progress)
        let page = try #require(Self.page(window.answer(after: Self.cursor(1), limit: 10)))
        #expect(!page.isCaughtUp)
        #expect(page.acknowledged.isEmpty)
    }
}
