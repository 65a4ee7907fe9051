import ArgumentParser
import Foundation
import KeelFileTools
import KeelFiles
import KeelFilesS3
import KeelTerminal
import KeelToolSupport

struct FilesListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the files and folders of a bucket, or of a folder in it.",
        discussion: """
            Keys that are not valid file paths, such as those with “//”, are named at the end, and \
            the exit code is then 2.
            """,
        aliases: ["ls"]
    )

    @Argument(help: "s3://BUCKET, s3://BUCKET/FOLDER or s3://BUCKET/KEY.")
    var place: FilePlace

    @Flag(name: .shortAndLong, help: "Lists the files of subfolders, too.")
    var recursive = false

    @OptionGroup var bucket: BucketOptions

    func validate() throws {
        guard place.isBucket else {
            throw ValidationError("The location must be s3://BUCKET/FOLDER.")
        }
    }

    func run() async throws {
        guard case .bucket(let name, let key) = place else { return }
        let isRecursive = recursive
        try await bucket.run(advice: nil) { transfers, output in
            let files = FileStore(try transfers.adapter(name))
            let folder = try transfers.folder(key)
            var (next, isEmpty) = (FileCursor?.none, true)
            repeat {
                let page = try await files.list(in: folder, isRecursive: isRecursive, after: next)
                for entry in Self.entries(of: page) {
                    isEmpty = false
                    try entry.show(output)
                }
                next = page.next
            } while next != nil
            // Perhaps the key of a file.
            if isEmpty, let path = folder.path, key.utf8.last != UInt8(ascii: "/"),
                let file = try await files.metadataIfPresent(of: path)
            {
                try Self.entry(of: file.summary).show(output)
            }
            return .done
        }
    }

    private struct Entry: Encodable {
        var key: String
        var bytes: Int?
        var modified: String?
        var version: String?

        var line: String {
            guard let bytes, let modified else {
                return String(repeating: " ", count: 34) + "  " + key
            }
            let size = String(bytes)
            let space = String(repeating: " ", count: max(0, 14 - size.count))
            return space + size + "  " + modified + "  " + key
        }

        func show(_ output: CommandOutput) throws {
            if output.isJSON { try output.record(self) } else { try output.line(line) }
        }
    }

    private static func entry(of file: FileSummary) -> Entry {
        Entry(
            key: file.path.string,
            bytes: file.size,
            modified: file.modified.formatted(.iso8601),
            version: file.version.string
        )
    }

    /// Returns the files and folders of a page, in the order of their keys.
    private static func entries(of page: FilePage) -> [Entry] {
        let files = page.files.map(entry)
        let folders = page.folders.map { Entry(key: $0.string + "/") }
        return (files + folders).sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}

struct FilesDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes a file of a bucket, or all files of a folder.",
        discussion: """
            The command asks before it deletes a folder. The exit code is 2 if there was nothing to \
            delete.
            """,
        aliases: ["rm"]
    )

    @Argument(help: "s3://BUCKET/KEY.")
    var place: FilePlace

    @Flag(name: .shortAndLong, help: "Deletes all files whose keys begin with the folder.")
    var recursive = false

    @Flag(name: .shortAndLong, help: "Deletes without asking.")
    var yes = false

    @OptionGroup var bucket: BucketOptions

    func validate() throws {
        guard case .bucket(_, let key) = place, !key.isEmpty else {
            throw ValidationError(
                "The location must be s3://BUCKET/KEY; whole buckets are not deleted."
            )
        }
        guard recursive || key.utf8.last != UInt8(ascii: "/") else {
            throw ValidationError("“\(place)” is a folder: --recursive deletes all files in it.")
        }
    }

    func run() async throws {
        guard case .bucket(let name, let key) = place else { return }
        let isRecursive = recursive
        if recursive, !yes {
            // Before `run`, so that Control-C at the question ends the command without its advice.
            try await bucket.output.reporting {
                try Confirmation.ask(
                    "Delete all files of “\(place)”?",
                    advice: "Add --yes to delete all files of “\(place)”."
                )
                return .done
            }
        }
        try await bucket.run(
            advice: "Run it again to delete the rest."
        ) { transfers, output in
            let count: Int
            if isRecursive {
                let line = output.progressLine(unit: .items("files"))
                defer { line.finish() }
                count = try await transfers.deleteAll(of: name, in: key) { line.update(done: $0) }
            } else {
                let files = FileStore(try transfers.adapter(name))
                count = try await files.delete(try FileStorePath(key)) ? 1 : 0
            }
            if output.isJSON {
                try output.record(["deleted": count])
            } else {
                try output.line("\(count.counted("file")) deleted")
            }
            return count == 0 ? .findings : .done
        }
    }
}

struct FilesUploadsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "uploads",
        abstract: "Lists incomplete uploads, and aborts old ones.",
        discussion: "Their parts take up space in the bucket, and are billed."
    )

    @Argument(help: "s3://BUCKET.")
    var place: FilePlace

    @Option(
        help: ArgumentHelp(
            """
            Ends the uploads that were begun longer ago, such as 12h or 7d; what they have sent is \
            lost.
            """,
            valueName: "age"
        )
    )
    var abortOlderThan: String?

    @OptionGroup var bucket: BucketOptions

    func validate() throws {
        guard case .bucket(_, let key) = place, key.isEmpty else {
            throw ValidationError("The location must be s3://BUCKET.")
        }
        guard abortOlderThan == nil || age != nil else {
            throw ValidationError("--abort-older-than must be an age, such as 90s, 15m, 12h or 7d.")
        }
    }

    /// The age in seconds; nil for another text, or without a unit, which could be hours or seconds.
    private var age: Int? {
        guard let text = abortOlderThan, text.last?.isNumber == false,
            let seconds = FilesPresignCommand.seconds(text), seconds >= 0
        else { return nil }
        return seconds
    }

    private struct Record: Encodable {
        let key: String
        let id: String
        let begun: String
    }

    func run() async throws {
        guard case .bucket(let name, _) = place else { return }
        let age = age
        try await bucket.run(
            advice: age.map { _ in "Run it again to end the rest." }
        ) { transfers, output in
            let adapter = try transfers.adapter(name)
            if let age {
                let count = try await adapter.abortIncompleteUploads(olderThan: .seconds(age))
                if output.isJSON {
                    try output.record(["ended": count])
                } else {
                    try output.line("\(count) ended")
                }
                return .done
            }
            for upload in try await adapter.incompleteUploads() {
                let begun = upload.startDate.formatted(.iso8601)
                if output.isJSON {
                    try output.record(Record(key: upload.key, id: upload.id, begun: begun))
                } else {
                    try output.line("\(begun)  \(upload.key)")
                }
            }
            return .done
        }
    }
}
