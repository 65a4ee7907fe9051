#if PostgreSQL && os(Linux)
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelTestSupport
import Testing

@testable import KeelStoragePostgreSQL

@Suite("A full disk under PostgreSQL", .timeLimit(.minutes(10)), .serialized)
struct DiskFullTests {
    /// A way in which a server runs out of space.
    enum Disk: String, CaseIterable {
        /// The files of the server's process may not grow beyond a size, which needs no rights.
        case limitedFiles
        /// A small volume, which only root can mount.
        case smallVolume
    }

    /// The kinds that this process may test: `smallVolume` is left out without the right to mount.
    static let disks: [Disk] = {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func succeeds(_ program: String, _ arguments: [String]) -> Bool {
            let process = Process()
            process.executableURL = URL(filePath: program)
            process.arguments = arguments
            process.standardError = FileHandle.nullDevice
            guard (try? process.run()) != nil else { return false }
            process.waitUntilExit()
            return process.terminationStatus == 0
        }
        let mounts = succeeds("/usr/bin/mount", ["-t", "tmpfs", "keel-test", folder.path])
        if mounts { _ = succeeds("/usr/bin/umount", [folder.path]) }
        return mounts ? Disk.allCases : [.limitedFiles]
    }()

    private func command(_ name: String, _ arguments: [String]) async throws {
        let run = try await ProgramRun(URL(filePath: "/usr/bin/\(name)"), arguments)
        #expect(run.exitCode == 0, "\(name): \(run.errors)")
    }

    /// The size of each document in bytes, which cannot be compressed.
    private static let size = 500_000

    private func batch(_ number: Int) -> WriteBatch {
        let words = (0..<Self.size / 8).map { _ in UInt64.random(in: .min ... .max) }
        let bytes = words.withUnsafeBytes { Array($0) }
        let fields: DocumentFields = ["n": .integer(Int64(number)), "bytes": .bytes(bytes)]
        return WriteBatch([
            DocumentWrite(DocumentPath("notes/\(number)"), .set(DocumentBody(fields)))
        ])
    }

    @Test(
        "A full disk fails commits, loses none that was answered, and goes on when there is room",
        arguments: disks
    )
    func fills(_ disk: Disk) async throws {
        let server = try await PostgreSQLServer()
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "keel-volume-\(UUID().uuidString)")
        if disk == .smallVolume {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let options = "size=48m,mode=700,uid=nobody,gid=nogroup"
            try await command("mount", ["-t", "tmpfs", "-o", options, "keel-test", folder.path])
        }
        var failure: (any Error)?
        do { try await fill(disk, at: folder, of: server) } catch { failure = error }
        server.stop()
        if disk == .smallVolume {
            // Also after a failure: the volume would stay until the machine restarts.
            try await command("umount", [folder.path])
            try FileManager.default.removeItem(at: folder)
        }
        if let failure { throw failure }
    }

    private func fill(_ disk: Disk, at folder: URL, of server: PostgreSQLServer) async throws {
        var database = "CREATE DATABASE small"
        if disk == .smallVolume {
            try await server.run("CREATE TABLESPACE small LOCATION '\(folder.path)'")
            database += " TABLESPACE small"
        }
        try await server.run(database)
        let location = PostgreSQLStorageLocation.url(server.url(database: "small"))
        let adapter = try await PostgreSQLStorageAdapter(at: location)
        _ = try await adapter.commit([batch(0)])[0].get()
        let start = try await adapter.changes(ChangeRequest()).next
        let process = try await adapter.pool.writer.run { connection in
            try connection.run(DatabaseStatement("SELECT pg_backend_pid()")).first?.integer(0) ?? 0
        }
        func limitFiles(_ limit: String) async throws {
            let arguments = ["prlimit", "--pid", "\(process)", "--fsize=\(limit)"]
            // Root starts servers as nobody, and in a container may not change the limits of others.
            let user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
            try await command("env", (geteuid() == 0 ? user : []) + arguments)
        }
        // Larger than a file of the write-ahead log, and not a multiple of a page, so that the last one is cut.
        if disk == .limitedFiles { try await limitFiles("\((24 << 20) + 4096):") }

        var count = 1
        var failure: StorageError?
        while failure == nil, count < 200 {
            do throws(StorageError) {
                _ = try await adapter.commit([batch(count)])[0].get()
                count += 1
            } catch {
                failure = error
            }
        }
        #expect(failure?.code == .diskFull, "\(String(describing: failure))")
        #expect(failure?.effect == StorageError.Effect.none)
        #expect(failure?.code.advice.contains("space") == true)
        // Reads go on, and the state is that of the last answered commit.
        let store = StorageClient(adapter)
        #expect(try await store.queryDocuments(DocumentQuery("notes")).count == count)
        await expectError(StorageError.self, .diskFull) {
            try await adapter.commit([batch(count)])[0].get()
        }
        #expect(try await adapter.checkIntegrity().documentCount == count)

        switch disk {
        case .limitedFiles: try await limitFiles("unlimited:")
        case .smallVolume: try await command("mount", ["-o", "remount,size=256m", folder.path])
        }
        for number in count..<count + 10 { _ = try await adapter.commit([batch(number)])[0].get() }
        var request = ChangeRequest(after: start)
        var ids: [String] = []
        while true {
            let page = try await adapter.changes(request)
            ids += page.changes.map(\.path.id)
            if page.isCaughtUp { break }
            request.after = page.next
        }
        #expect(ids == (1..<count + 10).map { "\($0)" })
        let report = try await adapter.checkIntegrity()
        #expect(report == .init(problems: [], documentCount: count + 10))
        await adapter.close()
    }
}
#endif
