import KeelRepositories
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Paging and prefetching", .timeLimit(.minutes(1)))
@MainActor
struct PagingTests {
    @Test("Pages are loaded one after another to the end")
    func loadsPages() async {
        let calls = Counter()
        let list = PagedList<Int> { cursor in
            calls.next()
            let offset = cursor?.offset ?? 0
            return Page(Array(offset..<min(offset + 4, 10)), offset: offset, pageSize: 4)
        }
        #expect(list.items.isEmpty)
        await list.loadMore()
        #expect(list.items == Array(0..<4))
        #expect(!list.isAtEnd)
        await list.loadAll()
        #expect(list.items == Array(0..<10))
        #expect(list.isAtEnd)
        await list.loadMore()
        #expect(calls.count == 3)
    }

    @Test("A caller waits for a page that is already loading")
    func loadsOnce() async throws {
        let gate = Gate()
        let calls = Counter()
        let list = PagedList<Int> { _ in
            calls.next()
            _ = try? await gate.pass()
            return Page([1], next: .token("b"))
        }
        // On this actor, the count and the call that follows are one step: once both are counted,
        // both have a page or wait for one.
        var askers = 0
        let tasks = (0..<2).map { _ in
            Task {
                askers += 1
                await list.loadMore()
            }
        }
        try await waitUntil { askers >= 2 && calls.count > 0 }
        #expect(list.isLoading)
        gate.open()
        for task in tasks { await task.value }
        #expect(calls.count == 1)
        #expect(list.items == [1])
    }

    @Test("A failure keeps the loaded items, and the same page is loaded again")
    func triesAgain() async {
        let calls = Counter()
        let list = PagedList<String> { cursor in
            if calls.next() == 2 { throw RepositoryError(.unreachable) }
            return Page([cursor?.token ?? "first"], next: cursor == nil ? .token("b") : nil)
        }
        await list.loadAll()
        #expect(list.items == ["first"])
        #expect(list.error?.code == .unreachable)
        await list.loadMore()
        #expect(list.items == ["first", "b"])
        #expect(list.error == nil)
    }

    @Test("A reset starts over, and the page in progress is ignored")
    func resets() async throws {
        let gate = Gate()
        let calls = Counter()
        let list = PagedList<Int> { _ in
            let call = calls.next()
            if call == 2 { _ = try? await gate.pass() }
            return Page([call], next: .token("\(call)"))
        }
        await list.loadMore()
        async let late: Void = list.loadMore()
        try await waitUntil { calls.count >= 2 }
        await list.reset()
        #expect(list.items == [3])
        gate.open()
        // Its page has arrived and was examined.
        await late
        #expect(list.items == [3])
        #expect(!list.isLoading)
    }

    @Test("A page cycle ends the list with an error")
    func refusesCircles() async {
        let list = PagedList<Int> { _ in Page([1], next: .token("a")) }
        await list.loadAll()
        #expect(list.items == [1, 1])
        #expect(list.error?.code == .unexpectedResponse)
    }

    @Test("A page whose last caller leaves is cancelled and can be loaded again")
    func cancels() async throws {
        let calls = Counter()
        let list = PagedList<Int> { _ in
            guard calls.next() == 1 else { return Page([7], next: nil) }
            _ = try? await Gate().pass()
            throw RepositoryError(.cancelled)
        }
        let task = Task { await list.loadMore() }
        try await waitUntil { calls.count != 0 }
        task.cancel()
        await task.value
        #expect(list.error == nil)
        await list.loadMore()
        #expect(list.items == [7])
    }

    @Test("A page that the service cancels is a failure, after which loadAll does not go on")
    func reportsForeignCancellation() async {
        let calls = Counter()
        let list = PagedList<Int> { _ in
            if calls.next() == 1 { throw CancellationError() }
            return Page([7], next: nil)
        }
        await list.loadAll()
        #expect(list.error?.code == .cancelled)
        #expect(calls.count == 1)
        await list.loadAll()
        #expect(list.items == [7] && list.error == nil)
    }

    @Test("A canceled load that takes a while to end holds up no later caller")
    func cancelsSlowly() async throws {
        let calls = Counter()
        let gate = Gate()
        let list = PagedList<Int> { _ in
            guard calls.next() == 1 else { return Page([7], next: nil) }
            // The cancellation does not reach this task.
            await Task { _ = try? await gate.pass() }.value
            return Page([1], next: nil)
        }
        let first = Task { await list.loadMore() }
        try await waitUntil { gate.begunCount > 0 }
        first.cancel()
        try await waitUntil { !list.isLoading }
        await list.loadMore()
        #expect(list.items == [7])
        gate.open()
        await first.value
        #expect(list.items == [7])
    }

    @Test("Elements are prefetched a few at a time, once each, and can be cancelled")
    func prefetches() async throws {
        let gate = Gate()
        let state = Mutex((loaded: [Int](), now: 0, most: 0))
        let prefetcher = Prefetcher<Int>(limit: 2) { number in
            state.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
            _ = try? await gate.pass()
            state.withLock { state in
                state.now -= 1
                if !Task.isCancelled { state.loaded.append(number) }
            }
        }
        prefetcher.prefetch([1, 2, 3, 4, 3, 5])
        prefetcher.prefetch([2, 4])
        #expect(prefetcher.count == 5)
        try await waitUntil { state.withLock({ $0.now }) >= 2 }
        prefetcher.cancel([1, 4])
        #expect(prefetcher.count == 3)
        gate.open()
        try await waitUntil { prefetcher.count == 0 }
        #expect(state.withLock { $0.loaded.sorted() } == [2, 3, 5])
        // The canceled one may still be running when the next one starts.
        #expect(state.withLock { $0.most } <= 3)
    }

    @Test("Prefetching in progress ends with the prefetcher")
    func endsWithItsOwner() async throws {
        let ended = Counter()
        let begun = Counter()
        var prefetcher: Prefetcher<Int>? = Prefetcher<Int> { _ in
            begun.next()
            _ = try? await Gate().pass()
            ended.next()
        }
        prefetcher?.prefetch([1, 2, 3])
        try await waitUntil { begun.count >= 2 }
        prefetcher = nil
        try await waitUntil { ended.count >= 2 }
        #expect(begun.count == 2)
    }
}
