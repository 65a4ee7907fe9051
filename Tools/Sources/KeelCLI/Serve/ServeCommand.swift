import ArgumentParser
import Foundation
import HTTPTypes
import KeelDocumentTools
import KeelHummingbird
import KeelSecurityTools
import KeelServing
import KeelStorage
import KeelStorageSQLite
import KeelToolSupport
import Logging
import ServiceLifecycle
import UnixSignals

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serves a document store over Firestore's protocol and Keel Sync.",
        discussion: """
            The first line of output is the address. All project names refer to the same documents, \
            and so do all database names, unless --storage is a PostgreSQL database: see --database. \
            After SIGTERM or SIGINT, the server answers the requests that it has accepted, and ends.

            One port serves gRPC, REST and WebChannel, which web pages use. Google's clients connect \
            to the address in the variable FIRESTORE_EMULATOR_HOST, such as 127.0.0.1:8080.

            With --tokens, all requests except /health and OPTIONS need a token of the file. Without \
            it, everyone who can connect can read and write everything, so the server listens only \
            on addresses of the loopback interface. Web pages can use it if they were loaded from this machine, \
            a host of --allow-host or an origin of --allow-origin.

            Some limits are for each caller, so that one leaves room to others. A caller is a name \
            of the token file, with all of its tokens and connections; without --tokens, each \
            connection is a caller.

                keel serve --storage notes.sqlite --port 8080
                keel serve --storage notes.sqlite --tokens tokens.txt
            """
    )

    @Option(
        help: ArgumentHelp(
            """
            The store of the documents: an SQLite file such as notes.sqlite, sqlite:PATH, \
            postgres://USER@HOST/DATABASE, or memory, which ends with the server. Any number of \
            servers can share a PostgreSQL database.
            """,
            valueName: "place"
        ),
        completion: .file()
    )
    var storage = ServedStorage.sqlite("keel.sqlite")

    @Option(
        name: .customLong("database"),
        help: ArgumentHelp(
            """
            A Firestore database besides (default), with --storage postgres://…: the store of this \
            name; can be repeated. Requests for any other database fail.
            """,
            valueName: "name"
        )
    )
    var databases: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            How far back past states can be read: 15m, 2h, 7d; none removes the history of a store. \
            Without the option, a store keeps its setting, and a new one has no history.
            """,
            valueName: "age"
        )
    )
    var history: ServedHistory?

    @OptionGroup(title: "The change log")
    var log: RetentionOptions

    @Option(
        help: """
            The failures that an acknowledged commit to an SQLite file survives: with power, power \
            failures and the end of the server; with process, only the end of the server, and \
            commits do not wait for the disk.
            """
    )
    var durability = ServedDurability.power

    @OptionGroup var database: DatabaseOptions

    @Option(
        help: """
            The maximum number of concurrent reads of a PostgreSQL database, each on its own connection.
            """
    )
    var databaseReaders = 8

    @Option(
        help: ArgumentHelp(
            """
            The callers that may use the server: a file whose lines have a name and the SHA-256 of a \
            token in hexadecimal. Requests have the field Authorization: Bearer TOKEN. The file is \
            read once.
            """,
            valueName: "file"
        ),
        completion: .file()
    )
    var tokens: String?

    @Option(help: "The address to listen on; without --tokens, a loopback address.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 selects a free one.")
    var port = 8080

    @Option(
        help: ArgumentHelp(
            """
            A PEM file with the server's certificate and its intermediate certificates, read once; \
            connections then need TLS 1.2 or 1.3.
            """,
            valueName: "file"
        ),
        completion: .file()
    )
    var tlsCertificate: String?

    @Option(
        help: ArgumentHelp("A PEM file with the key of --tls-certificate.", valueName: "file"),
        completion: .file()
    )
    var tlsKey: String?

    @Option(
        name: .customLong("allow-host"),
        help: ArgumentHelp(
            "A public name of the server, which a proxy in front passes on in Host; can be repeated.",
            valueName: "name"
        )
    )
    var allowedHosts: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            The name of this server among those of a database, of letters and digits; the ids of \
            its WebChannel sessions begin with it.
            """,
            valueName: "name"
        )
    )
    var name: String?

    @Option(
        name: .customLong("allow-origin"),
        help: ArgumentHelp(
            "The origin of web pages that may use the server, such as https://app.example.org; can be repeated.",
            valueName: "origin"
        )
    )
    var allowedOrigins: [String] = []

    @Option(
        help: ArgumentHelp(
            """
            Indexes to build, as the Firebase CLI writes them: firebase firestore:indexes > \
            firestore.indexes.json; - is standard input.
            """,
            valueName: "file"
        ),
        completion: .file(extensions: ["json"])
    )
    var indexes: String?

    @Option(
        help: """
            Which queries need an index: google refuses those that Google's server would refuse with \
            the indexes of --indexes; none refuses no query.
            """
    )
    var indexMode = IndexMode.none

    @Option(help: "The maximum size of a request's body, or of a gRPC message, in megabytes.")
    var maxBody = 16

    @Option(
        help: """
            The time limit of one request in seconds; a client sets a shorter one in \
            X-Server-Timeout. Streams have none.
            """
    )
    var requestTimeout = 600

    @Option(help: "The maximum number of listeners.")
    var maxListeners = 10_000

    @Option(
        help: ArgumentHelp(
            """
            The maximum number of listeners of one caller; nine tenths of --max-listeners if not \
            given.
            """,
            valueName: "count"
        )
    )
    var maxCallerListeners: Int?

    @Option(
        help: """
            The maximum number of connections; further ones wait. The system's limit of open files \
            can lower it.
            """
    )
    var maxConnections = 12_000

    @Option(help: "The collection for logs that are sent to /v1/logs (OTLP); none refuses them.")
    var logs = "logs"

    @Option(
        help:
            "The collection for analytics that are sent to /v1/analytics/batch; none refuses them."
    )
    var analytics = "analytics"

    @Option(
        help: """
            The seconds for which the server still answers after SIGTERM or SIGINT, while /health \
            reports 503 and listeners are disconnected one after the other; 5 or more behind a \
            load balancer.
            """
    )
    var drain = 0

    @Option(help: "The time limit for accepted requests after --drain, in seconds.")
    var grace = 30

    @Option(help: "The lowest level of messages that are logged to standard error.")
    var logLevel = LogThreshold.info

    func validate() throws {
        guard tokens != nil || LoopbackAddress.contains(host) else {
            throw ValidationError(
                """
                --host \(host) is not a loopback address. Without --tokens, anybody on the network \
                could read and write all documents. Name the callers with --tokens FILE, or use \
                127.0.0.1, ::1 or localhost.
                """
            )
        }
        switch storage {
        case .memory where !databases.isEmpty, .sqlite where !databases.isEmpty:
            throw ValidationError("--database is for --storage postgres://…: leave it out.")
        case .sqlite: break
        case .memory where log.isGiven:
            throw ValidationError(
                "--keep-… are for --storage sqlite:PATH and postgres://…: leave them out."
            )
        case .postgreSQL where durability != .power:
            throw ValidationError(
                """
                --durability is for files; PostgreSQL’s own setting is synchronous_commit, such as \
                ALTER ROLE … SET synchronous_commit = off.
                """
            )
        case .memory, .postgreSQL: break
        }
        for name in databases where name == "default" || !Self.isName(name) {
            throw ValidationError(
                """
                --database \(name) is not a name: write 1 to 63 lowercase letters, digits and hyphens, \
                and not “default”, whose documents are those of (default).
                """
            )
        }
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("--tls-certificate and --tls-key belong together: add the other.")
        }
        guard (0...65535).contains(port) else { throw ValidationError("--port is 0 to 65535.") }
        for host in allowedHosts {
            guard let url = URL(string: "https://\(host)"), url.host()?.isEmpty == false,
                host == (url.host() ?? "") + (url.port.map { ":\($0)" } ?? "")
            else {
                throw ValidationError(
                    "--allow-host \(host) is not the name of a host: write HOST or HOST:PORT."
                )
            }
        }
        let isPlain = name?.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } ?? true
        guard isPlain, name != "" else {
            throw ValidationError("--name takes only letters and digits, such as a1.")
        }
        for origin in allowedOrigins {
            guard let url = URL(string: origin), let host = url.host(), let scheme = url.scheme,
                origin == "\(scheme)://\(host)" + (url.port.map { ":\($0)" } ?? "")
            else {
                throw ValidationError(
                    "--allow-origin \(origin) is not an origin: write https://HOST or https://HOST:PORT."
                )
            }
        }
        guard (1...1024).contains(maxBody) else {
            throw ValidationError("--max-body is 1 to 1024 megabytes.")
        }
        guard (1...86_400).contains(requestTimeout) else {
            throw ValidationError("--request-timeout is 1 to 86400 seconds.")
        }
        guard (1...1_000_000).contains(maxListeners) else {
            throw ValidationError("--max-listeners is 1 to 1000000.")
        }
        guard (1...1_000_000).contains(maxCallerListeners ?? 1) else {
            throw ValidationError("--max-caller-listeners is 1 to 1000000.")
        }
        guard (1...1_000_000).contains(maxConnections) else {
            throw ValidationError("--max-connections is 1 to 1000000.")
        }
        guard (1...1000).contains(databaseReaders) else {
            throw ValidationError("--database-readers is 1 to 1000.")
        }
        for name in [logs, analytics] { _ = try Parsed.collection(name) }
        guard (0...3600).contains(drain) else {
            throw ValidationError("--drain is 0 to 3600 seconds.")
        }
        guard (0...3600).contains(grace) else {
            throw ValidationError("--grace is 0 to 3600 seconds.")
        }
    }

    private static func isName(_ text: String) -> Bool {
        (1...63).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
            }
    }

    func run() async throws {
        try await CommandOutput(isJSON: false).reporting {
            try await ListeningFailure.explained(host: host, port: port) { try await serve() }
            return .done
        }
    }

    private func serve() async throws {
        let logger = Self.logger(Logger.Level(rawValue: logLevel.rawValue) ?? .info)
        var configuration = StorageServer.Configuration()
        configuration.authenticate = try authentication()
        // Files that cannot be used are reported before a store is created.
        let tls = try serverTLS()
        let indexes = try indexes.map { try FirebaseIndexes(file: $0) }
        if tlsCertificate == nil, !LoopbackAddress.contains(host) {
            logger.warning(
                """
                Tokens and documents are sent in the clear; use --tls-certificate, or a proxy with \
                TLS
                """,
                metadata: ["host": "\(host)"]
            )
        }
        let openFiles = OpenFileLimit.raise()
        // The store and the program itself need open files too.
        let mostConnections = min(maxConnections, max(16, openFiles - 64))
        if openFiles < maxListeners + 100 {
            logger.warning(
                """
                The system lets this process have fewer open files than --max-listeners; see \
                ulimit -n
                """,
                metadata: ["limit": "\(openFiles)", "max-listeners": "\(maxListeners)"]
            )
        }
        let store = try await ServedStores(
            storage,
            databases: Set(databases).sorted(),
            history: history,
            log: log,
            durability: durability,
            allowsUnverifiedDatabase: database.unverifiedDatabase,
            databaseReaders: databaseReaders
        )
        do {
            try await serve(
                store,
                configuration,
                tls,
                indexes,
                mostConnections: mostConnections,
                logger
            )
        } catch {
            try? await store.close()
            throw error
        }
        try await store.close()
    }

    /// Serves open stores until a signal ends the server.
    private func serve(
        _ store: ServedStores,
        _ configuration: StorageServer.Configuration,
        _ tls: HandlerServer.TLS?,
        _ indexes: FirebaseIndexes?,
        mostConnections: Int,
        _ logger: Logger
    ) async throws {
        var configuration = configuration
        configuration.maximumBodyBytes = maxBody << 20
        configuration.requestTimeout = .seconds(requestTimeout)
        configuration.maximumListeners = maxListeners
        configuration.maximumListenersPerCaller = maxCallerListeners
        configuration.allowedAuthorities = Set(allowedHosts)
        configuration.allowedOrigins = Set(allowedOrigins)
        configuration.serverName = name ?? ""
        configuration.ingest = Ingest(
            logs: logs == "none" ? nil : CollectionPath(logs),
            analytics: analytics == "none" ? nil : CollectionPath(analytics)
        )
        configuration.metrics = store.metrics
        for sentence in indexes?.leftOut ?? [] {
            logger.warning("An index has no equivalent", metadata: ["index": "\(sentence)"])
        }
        if let schema = indexes?.schema {
            for adapter in [store.adapter] + (store.databases ?? [:]).values {
                try await adapter.prepare(schema)
            }
        }
        if case .memory = storage { configuration.allowsClearing = true }
        if indexMode == .google { configuration.compositeIndexes = indexes?.schema.indexes ?? [] }
        let handler = StorageServer(
            adapter: store.adapter,
            databases: store.databases,
            configuration: configuration
        )
        let address =
            (tls == nil ? "http://" : "https://") + (host.contains(":") ? "[\(host)]" : host)
        let server = HandlerServer(
            RequestLog(handler, logger),
            host: host,
            port: port,
            // With tokens, the handler itself refuses requests.
            access: tokens == nil ? .sameMachine : .everybody,
            tls: tls,
            mostConnections: mostConnections,
            logger: logger,
            onListening: { port in
                print("\(address):\(port)")
                fflush(nil)
            }
        )
        // A group ends its services in reverse order.
        var group = ServiceGroupConfiguration(
            services: [server, DrainService(handler, for: .seconds(drain), logger)],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        )
        group.maximumGracefulShutdownDuration = .seconds(drain + grace)
        let indexed = store.indexed
        async let _: Void = IndexLog.run(indexed, logger)
        try await ServiceGroup(configuration: group).run()
    }

    /// Returns the check of requests by --tokens; nil without the option.
    private func authentication() throws -> (
        @Sendable (HTTPRequest) async throws(StorageError) -> StoragePrincipal?
    )? {
        guard let tokens else { return nil }
        let file = try TokenFile(tokens)
        return { head async throws(StorageError) -> StoragePrincipal? in
            try file.principal(of: head)
        }
    }

    private func serverTLS() throws -> HandlerServer.TLS? {
        guard let tlsCertificate, let tlsKey else { return nil }
        do {
            return try HandlerServer.TLS(certificates: tlsCertificate, key: tlsKey)
        } catch {
            throw ToolError(
                "the certificate and its key cannot be used: \(error)",
                advice: "Both are PEM files, and the key is that of the file's first certificate."
            )
        }
    }

    private static func logger(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "keel.serve") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = level
        return logger
    }
}

enum IndexMode: String, ExpressibleByArgument, CaseIterable {
    case none, google
}

enum LogThreshold: String, ExpressibleByArgument, CaseIterable {
    case trace, debug, info, notice, warning, error, critical
}
