import ArgumentParser
import Foundation
import KeelFileTools
import KeelFiles
import KeelFilesS3
import KeelTerminal
import KeelToolSupport

struct FilesCatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cat",
        abstract: "Writes files of buckets to standard output.",
        discussion: "The checksum is verified at the end: the exit code is 1 if it is wrong."
    )

    @Argument(help: "The files: s3://BUCKET/KEY.")
    var places: [FilePlace]

    @OptionGroup var bucket: BucketOptions

    func validate() throws {
        for place in places { try place.requireKey() }
    }

    func run() async throws { try await Self.write(places, bucket) }

    static func write(_ places: [FilePlace], _ bucket: BucketOptions) async throws {
        try await bucket.run(advice: nil) { transfers, output in
            for case .bucket(let name, let key) in places {
                let file = try await FileStore(transfers.adapter(name)).open(FileStorePath(key))
                let line = output.progressLine(
                    total: file.metadata.size,
                    unit: .bytes,
                    writesData: true
                )
                defer { line.finish() }
                try await file.content.writeToStandardOutput { line.update(done: $0) }
            }
            return .done
        }
    }
}

struct FilesStatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stat",
        abstract: "Shows the size, date, type, version, checksum and attributes of a file.",
        discussion: "The exit code is 1 if the file does not exist."
    )

    @Argument(help: "The file: s3://BUCKET/KEY.")
    var place: FilePlace

    @OptionGroup var bucket: BucketOptions

    func validate() throws {
        try place.requireKey()
    }

    private struct Record: Encodable {
        let key: String
        let bytes: Int
        let modified: String
        let contentType: String
        let version: String
        let checksum: String?
        let attributes: [String: String]

        init(_ file: FileMetadata) {
            key = file.path.string
            bytes = file.size
            modified = file.modified.formatted(.iso8601)
            contentType = file.contentType
            version = file.version.string
            checksum = file.checksum?.description
            attributes = file.attributes
        }

        var lines: [String] {
            var lines = [
                "key       \(key)", "bytes     \(bytes)", "modified  \(modified)",
                "type      \(contentType)", "version   \(version)",
            ]
            if let checksum { lines.append("checksum  \(checksum)") }
            for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
                lines.append("attribute \(name)=\(value)")
            }
            return lines
        }
    }

    func run() async throws {
        guard case .bucket(let name, let key) = place else { return }
        let shown = place.description
        try await bucket.run(advice: nil) { transfers, output in
            let files = FileStore(try transfers.adapter(name))
            guard let file = try await files.metadataIfPresent(of: FileStorePath(key)) else {
                throw ToolError(
                    "“\(shown)” does not exist",
                    advice: "Check the key; keel files list s3://\(name) lists the files."
                )
            }
            let record = Record(file)
            if output.isJSON {
                try output.record(record)
            } else {
                for line in record.lines { try output.line(line) }
            }
            return .done
        }
    }
}

struct FilesSizeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "du",
        abstract: "Counts the files and bytes of buckets, or of folders in them."
    )

    @Argument(help: "s3://BUCKET, or s3://BUCKET/FOLDER.")
    var places: [FilePlace]

    @Flag(name: .shortAndLong, help: "Sizes for people, such as 1.5 GiB.")
    var human = false

    @OptionGroup var bucket: BucketOptions

    func validate() throws {
        guard places.allSatisfy(\.isBucket) else {
            throw ValidationError("The locations must be s3://BUCKET/FOLDER.")
        }
    }

    private struct Record: Encodable {
        let place: String
        var files = 0
        var bytes = 0
    }

    func run() async throws {
        let (places, isHuman) = (places, human)
        try await bucket.run(advice: nil) { transfers, output in
            for place in places {
                guard case .bucket(let name, let key) = place else { continue }
                var record = Record(place: place.description)
                let files = FileStore(try transfers.adapter(name))
                let line = output.progressLine(unit: .items("files"))
                defer { line.finish() }
                for try await file in files.files(in: try transfers.folder(key)) {
                    record.files += 1
                    record.bytes += file.size
                    line.update(done: record.files, note: record.place)
                }
                line.finish()
                if output.isJSON {
                    try output.record(record)
                } else {
                    let size =
                        isHuman ? Self.text(of: record.bytes) : record.bytes.counted("byte")
                    try output.line("\(size)  \(record.files.counted("file"))  \(place)")
                }
            }
            return .done
        }
    }

    /// Returns a size in the largest unit of which there is at least one, from KiB with one decimal.
    static func text(of byteCount: Int) -> String {
        var size = Double(byteCount)
        var unit = "bytes"
        for next in ["KiB", "MiB", "GiB", "TiB", "PiB"] where size >= 1024 {
            (size, unit) = (size / 1024, next)
        }
        guard unit != "bytes" else { return byteCount.counted("byte") }
        return "\((size * 10).rounded() / 10) \(unit)"
    }
}

struct FilesMoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract:
            "Moves a file, or a folder, within a bucket, between buckets or with the machine.",
        discussion: """
            A file is removed once its copy is complete. If the command is interrupted in between, \
            both exist; run it again to complete the move.
            """,
        aliases: ["mv"]
    )

    @Argument(
        help: "What to move: s3://BUCKET/KEY, or a path of the machine.",
        completion: .file()
    )
    var from: FilePlace

    @Argument(
        help: "Where to: s3://BUCKET/KEY, or a path of the machine.",
        completion: .file()
    )
    var to: FilePlace

    @Flag(name: .shortAndLong, help: "Moves all files of a folder.")
    var recursive = false

    @OptionGroup var bucket: BucketOptions

    func validate() throws {
        try FilePlace.requirePair(from, to)
        guard !from.isStandard else {
            throw ValidationError(
                "Standard input cannot be moved: type keel files put - \(to.shellWord), or ./- for "
                    + "a file."
            )
        }
        guard !to.isStandard else {
            throw ValidationError(
                "A file cannot be moved to standard output: type keel files get "
                    + "\(from.shellWord) -."
            )
        }
    }

    func run() async throws {
        try await bucket.copy(
            from: from,
            to: to,
            isRecursive: recursive,
            options: FileTransfers.Options(isMove: true)
        )
    }
}

struct FilesPresignCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "presign",
        abstract: "Makes a URL with which anyone can read or write one file for a limited time.",
        discussion: """
            The bucket gets no request. Keep the URL secret while it is valid. It expires with the \
            credentials that signed it, if they expire earlier.
            """
    )

    @Argument(help: "The file: s3://BUCKET/KEY.")
    var place: FilePlace

    @Flag(help: "Makes a URL for writing the file with PUT, not for reading it with GET.")
    var put = false

    @Option(help: ArgumentHelp("How long the URL is valid: 90s, 15m, 1h or 7d.", valueName: "time"))
    var expires = "1h"

    @OptionGroup var bucket: BucketOptions

    func validate() throws {
        guard case .bucket(_, let key) = place, !key.isEmpty else {
            throw ValidationError("The file must be s3://BUCKET/KEY.")
        }
        guard let seconds = Self.seconds(expires), (1...604_800).contains(seconds) else {
            throw ValidationError("--expires must be 1s to 7d, such as 90s, 15m, 1h or 7d.")
        }
    }

    static func seconds(_ text: String) -> Int? {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int(text.dropLast()) else {
            return Int(text)
        }
        let (seconds, overflows) = count.multipliedReportingOverflow(by: unit)
        return overflows ? nil : seconds
    }

    func run() async throws {
        guard case .bucket(let name, let key) = place, let seconds = Self.seconds(expires) else {
            return
        }
        let use = put ? S3FileStoreAdapter.PresignedUse.put : .get
        try await bucket.run(advice: nil) { transfers, output in
            let url = try await transfers.adapter(name).presignedURL(
                for: FileStorePath(key),
                to: use,
                expiresIn: .seconds(seconds)
            )
            if output.isJSON {
                try output.record(["url": url.absoluteString])
            } else {
                try output.line(url.absoluteString)
            }
            return .done
        }
    }
}
