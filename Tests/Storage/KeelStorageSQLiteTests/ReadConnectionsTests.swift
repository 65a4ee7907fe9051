#if SQLite && os(Linux)
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import Testing

@Suite("Connections for reads", .timeLimit(.minutes(2)))
struct ReadConnectionsTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Returns the number of open files of the store.
    private func openFiles() throws -> Int {
        let descriptors = "/proc/self/fd"
        return try FileManager.default.contentsOfDirectory(atPath: descriptors).filter { name in
            let file = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "\(descriptors)/\(name)"
            )
            return file?.hasPrefix(folder.url.path(percentEncoded: false)) ?? false
        }.count
    }

    @Test("Closing also closes the connections that reads open at the same time")
    func closing() async throws {
        for _ in 0..<30 {
            let adapter = try folder.adapter()
            try await adapter.set("a/1", ["n": 1])
            #expect(try openFiles() > 0)
            let codes = try await withThrowingTaskGroup(of: StorageError.Code?.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        do throws(StorageError) {
                            _ = try await adapter.read(ReadRequest(.documents(["a/1", "a/2"])))
                            return nil
                        } catch { return error.code }
                    }
                }
                group.addTask {
                    try adapter.close()
                    return nil
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(codes.allSatisfy { $0 == nil || $0 == .closed }, "\(codes)")
            #expect(try openFiles() == 0)
        }
    }
}
#endif
