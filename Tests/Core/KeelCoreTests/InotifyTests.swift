#if os(Linux)
import Foundation
import KeelCore
import KeelTestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@Suite("File and folder events")
final class InotifyTests {
    private let folder: URL

    init() throws { folder = try URL.makeTemporaryFolder() }

    deinit { try? FileManager.default.removeItem(at: folder) }

    @Test("Each event names its watch and its file, in order of occurrence")
    func order() async throws {
        let inotify = try Inotify()
        let (first, second) = (folder.appending(path: "1"), folder.appending(path: "2"))
        var watches: [Int32] = []
        for place in [first, second] {
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            watches.append(try inotify.watch(place.path, for: UInt32(IN_CREATE | IN_DELETE)))
        }
        // More than one read of the system's queue has, and names of every length.
        var expected: [String] = []
        for number in 0..<400 {
            let place = number % 2
            let name = "\(number)" + String(repeating: "x", count: number % 100)
            let file = [first, second][place].appending(path: name)
            try Data().write(to: file)
            try FileManager.default.removeItem(at: file)
            let watch = watches[place]
            expected += ["\(watch) \(IN_CREATE) \(name)", "\(watch) \(IN_DELETE) \(name)"]
        }
        let (events, told) = AsyncStream.makeStream(of: Inotify.Event.self)
        inotify.follow { for event in $0 { told.yield(event) } }
        var found: [String] = []
        for await event in events {
            found.append("\(event.watch) \(event.mask) \(event.name)")
            if found.count == expected.count { break }
        }
        #expect(found == expected)
        inotify.unwatch(watches[0])
        try Data().write(to: first.appending(path: "unseen"))
        try Data().write(to: second.appending(path: "seen"))
        var rest: [String] = []
        for await event in events {
            rest.append(event.name)
            if event.name == "seen" { break }
        }
        // The end of the first watch is an event without a name.
        #expect(rest == ["", "seen"])
    }

    @Test("A path that cannot be watched throws an error with the failed call")
    func missing() throws {
        let inotify = try Inotify()
        let error = #expect(throws: FileSystemError.self) {
            try inotify.watch(folder.appending(path: "none").path, for: UInt32(IN_CREATE))
        }
        #expect(error?.kind == .notFound && error?.call == "inotify_add_watch")
    }

    @Test("The handler is released when the watch ends")
    func ends() async throws {
        let inotify = try Inotify()
        _ = try inotify.watch(folder.path, for: UInt32(IN_CREATE))
        let (end, ending) = AsyncStream.makeStream(of: Void.self)
        inotify.follow { [last = Last(ending)] _ in withExtendedLifetime(last) {} }
        inotify.cancel()
        for await _ in end {}
    }
}

/// Tells of its own end.
private final class Last: Sendable {
    private let ending: AsyncStream<Void>.Continuation

    init(_ ending: AsyncStream<Void>.Continuation) { self.ending = ending }

    deinit { ending.finish() }
}
#endif
