#if os(Linux) || os(macOS)
import Foundation
import KeelAsyncHTTPClient
import KeelStorage
import KeelStorageFirestore
import KeelToolsTestSupport
import Testing

@Suite("Options of keel serve")
struct ServeOptionsTests {
    @Test("By default a server waits for the disk")
    func durability() throws {
        let help = try KeelProcess(["serve", "--help"]).wait().output
        let words = help.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("(values: power, process; default: power)"))
    }

    @Test(
        "Invalid values are rejected",
        arguments: [
            ["--durability", "disk"], ["--max-connections", "0"], ["--host", "0.0.0.0"],
            ["--max-caller-listeners", "0"], ["--request-timeout", "0"],
            ["--keep-changes", "30d"], ["--index-mode", "strict"], ["--drain", "-1"],
            ["--database", "b"], ["--database-readers", "0"],
            ["--allow-host", "https://keel.example.org"], ["--name", "a-b"],
            ["--tls-certificate", "server.pem"], ["--tls-key", "server.key"],
        ]
    )
    func refused(options: [String]) throws {
        let end = try KeelProcess(["serve", "--storage", "memory"] + options).wait()
        #expect(end.code == 64)
    }

    @Test("The path of an SQLite file is a storage, and a misspelled word is none")
    func paths() throws {
        let folder = try Scratch()
        let file = folder.file("notes.sqlite")
        let server = try ServedProcess(storage: file.path, port: 0)
        #expect(server.terminate() == 0)
        #expect(FileManager.default.fileExists(atPath: file.path))
        let others = ["memry", "firestore:notes", "http://127.0.0.1:8080", "keel@db1.example/keel"]
        for storage in others {
            #expect(try KeelProcess(["serve", "--storage", storage]).wait().code == 64)
        }
    }

    @Test(
        "Invalid change log limits are rejected",
        arguments: [
            ["--keep-changes", "0d"], ["--keep-changes", "many"], ["--keep-removals", "none"],
            ["--keep-changes-size", "-1"], ["--keep-removals-size", "1000001"],
            ["--keep-receipts", "0d"],
        ]
    )
    func limits(options: [String]) throws {
        let end = try KeelProcess(["serve", "--storage", "sqlite:/nowhere/s.sqlite"] + options)
            .wait()
        #expect(end.code == 64)
    }

    @Test("Queries need the indexes of a file, as on Google's server")
    func indexes() async throws {
        let folder = try Scratch()
        let file = try folder.file(
            "firestore.indexes.json",
            holding: """
                {"indexes": [{"collectionGroup": "notes", "queryScope": "COLLECTION", "fields": [
                  {"fieldPath": "color", "order": "ASCENDING"},
                  {"fieldPath": "size", "order": "DESCENDING"}
                ]}]}
                """
        )
        let server = try ServedProcess(
            storage: "memory",
            port: 0,
            ["--index-mode", "google", "--indexes", file.path]
        )
        defer { server.kill() }
        let store = StorageClient(
            FirestoreStorageAdapter(.keel(server.address), transport: AsyncHTTPClientTransport())
        )
        let red = DocumentQuery("notes").where(.equal("color", "red"))
        #expect(try await store.queryDocuments(red.order(by: "size", .descending)).isEmpty)
        let error = await #expect(throws: StorageError.self) {
            _ = try await store.queryDocuments(red.order(by: "name"))
        }
        #expect(error?.code == .indexRequired)
        #expect(error?.message.contains(#""collectionGroup":"notes""#) == true)
    }

    @Test("A certificate that cannot be used is reported")
    func certificate() throws {
        let files = [
            "--tls-certificate", "/nowhere/server.pem", "--tls-key", "/nowhere/server.key",
        ]
        let end = try KeelProcess(["serve", "--storage", "memory", "--port", "0"] + files).wait()
        #expect(end.code == 1)
        #expect(end.errors.contains("certificate"))
    }

    @Test(
        "A file that cannot be used is reported before a store is created",
        arguments: [
            ["--tls-certificate", "/nowhere/server.pem", "--tls-key", "/nowhere/server.key"],
            ["--indexes", "/nowhere/firestore.indexes.json"],
        ]
    )
    func unusableFile(options: [String]) throws {
        let folder = try Scratch()
        let store = folder.file("notes.sqlite")
        let arguments = ["serve", "--storage", store.path, "--port", "0"] + options
        let end = try KeelProcess(arguments).wait()
        #expect(end.code != 0)
        #expect(end.errors.contains(options[0] == "--indexes" ? "indexes.json" : "certificate"))
        #expect(!FileManager.default.fileExists(atPath: store.path))
    }

    @Test("The help describes the limits of the change log")
    func help() throws {
        let help = try KeelProcess(["serve", "--help"]).wait().output
        for option in ["changes", "changes-size", "removals", "removals-size"] {
            #expect(help.contains("--keep-\(option) <"))
        }
    }
}
#endif
