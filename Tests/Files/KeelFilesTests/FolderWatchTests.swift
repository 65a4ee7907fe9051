#if os(Linux)
import Foundation
import KeelCore
import KeelTestSupport
import Testing

@testable import KeelFiles

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

@Suite("The watch of a folder")
struct FolderWatchTests {
    @Test("After lost events, folders that were made, moved or removed meanwhile are known")
    func lostEvents() async throws {
        let scratch = try TemporaryFolder()
        let files = FileManager.default
        for name in ["/old/inner", "/gone"] {
            try files.createDirectory(
                atPath: scratch.path + name,
                withIntermediateDirectories: true
            )
        }
        let number = open(scratch.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(number >= 0)
        let inbox = FileChangeInbox(.root)
        let watch = FolderWatch(try Inotify(), inbox)
        try watch.add(Descriptor(number), "", isNew: false)
        #expect(Set(watch.prefixes.values) == ["", "old/", "old/inner/", "gone/"])
        // Nobody reads the events of these changes.
        try files.moveItem(atPath: scratch.path + "/old", toPath: scratch.path + "/moved")
        try files.removeItem(atPath: scratch.path + "/gone")
        try files.createDirectory(atPath: scratch.path + "/new", withIntermediateDirectories: false)
        watch.handle(-1, UInt32(IN_Q_OVERFLOW), "")
        #expect(Set(watch.prefixes.values) == ["", "moved/", "moved/inner/", "new/"])
        #expect(await inbox.next() == .missed)
    }
}
#endif
