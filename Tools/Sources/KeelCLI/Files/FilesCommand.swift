import ArgumentParser
import Foundation
import KeelAsyncHTTPClient
import KeelFileTools
import KeelFiles
import KeelFilesS3
import KeelHTTP
import KeelTerminal
import KeelToolSupport

struct FilesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "files",
        abstract: "Copies, lists and deletes files in buckets of S3 and of compatible servers.",
        discussion: """
            A bucket's file is s3://BUCKET/KEY, or s3:BUCKET/KEY. Credentials come from where AWS's \
            tools look for them: the environment, a profile in ~/.aws, single sign-on, a web \
            identity, the container or the instance.

                keel files put photo.jpg s3://photos/2026/
                pg_dump shop | keel files put - s3://backups/shop.sql
                keel files sync album s3://photos/album --exclude '*.tmp'
            """,
        subcommands: [
            FilesPutCommand.self, FilesGetCommand.self, FilesCatCommand.self,
            FilesListCommand.self, FilesStatCommand.self, FilesSizeCommand.self,
            FilesCopyCommand.self, FilesMoveCommand.self, FilesSyncCommand.self,
            FilesDeleteCommand.self, FilesPresignCommand.self, FilesUploadsCommand.self,
        ]
    )
}

extension FilePlace: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension FilePlace {
    /// Whether it is `-`, which stands for standard input or standard output.
    var isStandard: Bool { self == .local(path: "-") }

    /// Refuses a bucket in the place of a file of the machine.
    static func requireLocal(_ file: String, _ command: (FilePlace) -> String) throws {
        guard let place = FilePlace(file), place.isBucket else { return }
        throw ValidationError("“\(place)” is in a bucket: type \(command(place)).")
    }

    /// Refuses two places without a bucket, and one place twice.
    static func requirePair(_ from: Self, _ to: Self, named name: String = "KEY") throws {
        guard from.isBucket || to.isBucket else {
            throw ValidationError("One of the locations must be s3://BUCKET/\(name).")
        }
        guard from != to else {
            throw ValidationError("The source and the target are the same: type another target.")
        }
    }

    /// Refuses a place that is not a file of a bucket.
    func requireKey() throws {
        guard case .bucket(let name, let key) = self else {
            throw ValidationError("“\(self)” is not in a bucket: type s3://BUCKET/KEY.")
        }
        guard !key.isEmpty else {
            throw ValidationError("“\(self)” has no key: type s3://\(name)/KEY.")
        }
        guard key.utf8.last != UInt8(ascii: "/") else {
            throw ValidationError("“\(self)” is a folder: type the key of a file in it.")
        }
    }
}

extension BucketProvider: ExpressibleByArgument {}

extension RateLimit: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

/// The options of all commands for buckets.
struct BucketOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The server; if not given, AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, else that of aws or gcs.
            """,
            valueName: "url"
        )
    )
    var endpoint: String?

    @Option(
        help: """
            The bucket's region; if not given, AWS_REGION or AWS_DEFAULT_REGION, else us-east-1, or \
            auto for gcs; for r2 always auto.
            """
    )
    var region: String?

    @Option(
        help: ArgumentHelp(
            "The service, for its endpoint, region and checksums: aws, r2, gcs or minio.",
            valueName: "service"
        )
    )
    var provider = BucketProvider.aws

    @Option(
        help: ArgumentHelp(
            "The profile of ~/.aws to use instead of the environment's keys.",
            valueName: "name"
        )
    )
    var awsProfile: String?

    @Flag(help: "Puts the bucket's name into the path; the default with an endpoint.")
    var pathStyle = false

    @Option(help: ArgumentHelp("The megabytes of a part, 5 to 5120.", valueName: "MiB"))
    var partSize = 8

    @Option(help: "How many parts of a file are sent or received at a time, 1 to 64.")
    var parallel = 4

    @Option(
        help: """
            How many files of a folder are copied at a time, 1 to 64. Each takes memory for its parts \
            on their way, and one more.
            """
    )
    var transfers = 4

    @Option(
        help: ArgumentHelp(
            "The most bytes per second, of all files together, in each direction: 500K, 2M, 1.5G.",
            valueName: "rate"
        )
    )
    var limitRate: RateLimit?

    @Flag(name: .shortAndLong, help: "Shows no progress.")
    var quiet = false

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    func validate() throws {
        if let endpoint {
            guard let url = URL(string: endpoint), url.host()?.isEmpty == false,
                ["http", "https"].contains(url.scheme)
            else {
                throw ValidationError(
                    "--endpoint must be a URL such as http://127.0.0.1:9000, but is “\(endpoint)”."
                )
            }
        }
        guard (5...5120).contains(partSize) else {
            throw ValidationError("--part-size must be 5 to 5120 megabytes.")
        }
        guard (1...64).contains(parallel) else {
            throw ValidationError("--parallel must be 1 to 64.")
        }
        guard (1...64).contains(transfers) else {
            throw ValidationError("--transfers must be 1 to 64.")
        }
    }

    var output: CommandOutput { CommandOutput(isJSON: json, isQuiet: quiet) }

    /// Runs a command, which a signal cancels, and reports its error and the keys that its lists have left out.
    ///
    /// - Parameters:
    ///   - advice: The advice after an interruption. For a command that leaves nothing behind, nil lets signals end the
    ///     process, even while its output waits for a reader.
    ///   - body: The command.
    /// - Throws: The exit code, unless it is `done`; a `ValidationError` as it is.
    func run(
        advice: String? = "Run it again: an upload in parts continues where it stopped.",
        _ body: @escaping @Sendable (FileTransfers, CommandOutput) async throws -> ToolExit
    ) async throws {
        var settings = BucketSettings(
            endpoint: endpoint,
            region: region,
            provider: provider,
            environment: ProcessInfo.processInfo.environment
        )
        settings.profile = awsProfile
        settings.isPathStyle = pathStyle
        settings.partByteCount = partSize << 20
        settings.maximumConcurrentParts = parallel
        settings.parallelFileCount = transfers
        settings.rateLimit = limitRate
        let (output, prepared) = (output, settings)
        try await output.reporting {
            var configuration = AsyncHTTPClientTransport.Configuration()
            configuration.connectionsPerHost = max(8, prepared.connectionCount)
            let transport = AsyncHTTPClientTransport(configuration)
            let paced: any HTTPTransport =
                if let limit = prepared.rateLimit {
                    PacedTransport(transport, to: limit)
                } else {
                    transport
                }
            let transfers = FileTransfers(prepared, over: paced, credentialsOver: transport)
            let result: Result<ToolExit, any Error>
            do {
                let exit: ToolExit
                if let advice {
                    exit = try await Interruption.value(advice: advice) {
                        try await body(transfers, output)
                    }
                } else {
                    exit = try await body(transfers, output)
                }
                result = .success(exit)
            } catch {
                result = .failure(error)
            }
            await transport.shutdown()
            let exit = try result.get()
            return Self.remark(onUnlisted: transfers, output) && exit == .done ? .findings : exit
        }
    }

    /// Returns a line for the number of bytes that were received or sent.
    static func progressLine(
        of transfers: FileTransfers,
        _ output: CommandOutput
    ) -> ProgressLine {
        output.progressLine(unit: .bytes) { transfers.unsentByteCount }
    }

    /// Copies or moves, and shows the progress and the result.
    func copy(
        from: FilePlace,
        to: FilePlace,
        isRecursive: Bool,
        options: FileTransfers.Options = .init()
    ) async throws {
        try await run { transfers, output in
            let line = Self.progressLine(of: transfers, output)
            defer { line.finish() }
            let report = try await transfers.copy(
                from: from,
                to: to,
                isRecursive: isRecursive,
                options: options
            ) { progress in
                try Self.show(progress, line, output)
            }
            line.finish()
            Self.remark(on: report.skipped, output)
            if isRecursive, !output.isJSON {
                try output.line(
                    "\(report.fileCount.counted("file")), \(report.byteCount.counted("byte"))"
                )
            }
            for failure in report.failures {
                output.failure(failure.error, about: failure.from.description)
            }
            if let error = report.listFailure { throw error }
            if !report.failures.isEmpty { return .failed }
            return report.skipped.isEmpty ? .done : .findings
        }
    }

    /// Draws the progress, and writes each copied file.
    static func show(
        _ progress: CopyProgress,
        _ line: ProgressLine,
        _ output: CommandOutput
    ) throws {
        switch progress {
        case .moved(let state):
            line.update(done: state.byteCount, total: state.totalByteCount, note: state.note)
        case .copied(let copied):
            line.clear()
            if output.isJSON {
                try output.record(CopiedRecord(copied))
            } else {
                try output.line("\(copied.to): \(copied.byteCount.counted("byte"))")
            }
        }
    }
}

extension CopyState {
    /// The file, or the number of files.
    fileprivate var note: String {
        if let place { return "\(place)" }
        guard let totalFileCount else { return fileCount.counted("file") }
        return "\(fileCount) of \(totalFileCount.counted("file"))"
    }
}

private struct CopiedRecord: Encodable {
    let from: String
    let to: String
    let bytes: Int
}

extension CopiedRecord {
    fileprivate init(_ copied: FileTransfers.Copied) {
        self.init(
            from: copied.from.description,
            to: copied.to.description,
            bytes: copied.byteCount
        )
    }
}

struct FilesPutCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "put",
        abstract: "Puts a file or a folder of this machine into a bucket.",
        discussion: """
            A file appears in the bucket when it is complete. Run the command again to continue an \
            interrupted upload. With --recursive, links are left out, and the exit code is then 2. \
            Standard input is sent in parts while it is read.
            """
    )

    @Argument(help: "The file or the folder; - for standard input.", completion: .file())
    var file: String

    @Argument(help: "Where to: s3://BUCKET/KEY, or s3://BUCKET/FOLDER/ to keep the name.")
    var target: FilePlace

    @Flag(name: .shortAndLong, help: "Puts all files of a folder and its subfolders.")
    var recursive = false

    @Option(
        help: ArgumentHelp(
            "The content type, such as text/html; without it, that of the name's extension.",
            valueName: "type"
        )
    )
    var contentType: String?

    @OptionGroup var bucket: BucketOptions

    func validate() throws {
        guard case .bucket(_, let key) = target else {
            throw ValidationError("The target must be s3://BUCKET/KEY.")
        }
        try FilePlace.requireLocal(file) { "keel files copy \($0.shellWord) \(target.shellWord)" }
        guard file == "-" else { return }
        try Self.requireName(recursive, key)
    }

    /// Refuses a folder as the target of standard input.
    static func requireName(_ isRecursive: Bool, _ key: String) throws {
        guard !isRecursive, !key.isEmpty, key.utf8.last != UInt8(ascii: "/") else {
            throw ValidationError("Standard input has no name: give one as s3://BUCKET/KEY.")
        }
    }

    func run() async throws {
        let options = FileTransfers.Options(contentType: contentType)
        guard file == "-", case .bucket(let name, let key) = target else {
            return try await bucket.copy(
                from: .local(path: file),
                to: target,
                isRecursive: recursive,
                options: options
            )
        }
        try await Self.putStandardInput(in: name, key, bucket, options)
    }

    static func putStandardInput(
        in name: String,
        _ key: String,
        _ bucket: BucketOptions,
        _ options: FileTransfers.Options = .init()
    ) async throws {
        let place = FilePlace.bucket(name: name, key: key).description
        try await bucket.run { transfers, output in
            let line = BucketOptions.progressLine(of: transfers, output)
            defer { line.finish() }
            let size = try await FileStore(transfers.adapter(name)).write(
                .standardInput,
                to: FileStorePath(key),
                options: FileWriteOptions(contentType: options.contentType)
            ) { progress in
                line.update(done: progress.byteCount, note: place)
            }.size
            line.finish()
            if output.isJSON {
                try output.record(CopiedRecord(from: "-", to: place, bytes: size))
            } else {
                try output.line("\(place): \(size.counted("byte"))")
            }
            return .done
        }
    }
}

struct FilesGetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Gets a file or a folder from a bucket.",
        discussion: """
            A file appears under its name, and replaces an existing one, when it is complete and its \
            checksum is right.
            """
    )

    @Argument(help: "The file: s3://BUCKET/KEY.")
    var source: FilePlace

    @Argument(help: "The file or the folder to write; - for standard output.", completion: .file())
    var file: String

    @Flag(name: .shortAndLong, help: "Gets all files whose keys begin with the folder.")
    var recursive = false

    @OptionGroup var bucket: BucketOptions

    func validate() throws {
        guard source.isBucket else { throw ValidationError("The source must be s3://BUCKET/KEY.") }
        try FilePlace.requireLocal(file) { "keel files copy \(source.shellWord) \($0.shellWord)" }
        guard file == "-" else { return }
        guard !recursive else {
            throw ValidationError(
                "Only one file can be written to standard output: type a folder instead of -."
            )
        }
        try source.requireKey()
    }

    func run() async throws {
        guard file != "-" else { return try await FilesCatCommand.write([source], bucket) }
        try await bucket.copy(from: source, to: .local(path: file), isRecursive: recursive)
    }
}

struct FilesCopyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract:
            "Copies a file, or a folder, within a bucket, between buckets or with the machine.",
        discussion: "Within a bucket, the server copies, and no data passes through this machine.",
        aliases: ["cp"]
    )

    @Argument(
        help: "What to copy: s3://BUCKET/KEY, or a path of the machine; - for standard input.",
        completion: .file()
    )
    var from: FilePlace

    @Argument(
        help: "Where to: s3://BUCKET/KEY, or a path of the machine; - for standard output.",
        completion: .file()
    )
    var to: FilePlace

    @Flag(name: .shortAndLong, help: "Copies all files of a folder.")
    var recursive = false

    @OptionGroup var bucket: BucketOptions

    func validate() throws {
        try FilePlace.requirePair(from, to)
        if from.isStandard, case .bucket(_, let key) = to {
            try FilesPutCommand.requireName(recursive, key)
        }
        guard to.isStandard else { return }
        guard !recursive else {
            throw ValidationError(
                "Only one file can be written to standard output: type a folder instead of -."
            )
        }
        try from.requireKey()
    }

    func run() async throws {
        if from.isStandard, case .bucket(let name, let key) = to {
            return try await FilesPutCommand.putStandardInput(in: name, key, bucket)
        }
        guard !to.isStandard else { return try await FilesCatCommand.write([from], bucket) }
        try await bucket.copy(from: from, to: to, isRecursive: recursive)
    }
}
