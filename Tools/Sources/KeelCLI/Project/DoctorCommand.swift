import ArgumentParser
import Foundation
import KeelAsyncHTTPClient
import KeelDoctorTools
import KeelDocumentTools
import KeelToolSupport

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks the machine, its clock and its secrets, and stores and servers.",
        discussion: """
            Reports problems and their remedies; changes nothing. Exits with 2 if there is \
            something to do, with 0 otherwise.

                keel doctor --storage notes.sqlite --server http://127.0.0.1:8080
            """
    )

    @Option(
        help: ArgumentHelp(
            """
            A store to check: an SQLite file, sqlite:PATH, postgres://USER@HOST/DATABASE or the \
            address of a Keel server; can be repeated.
            """,
            valueName: "place"
        ),
        completion: .file()
    )
    var storage: [String] = []

    @OptionGroup var database: DatabaseOptions

    @Option(
        help: ArgumentHelp(
            "A folder of a file store to check; can be repeated.",
            valueName: "folder"
        ),
        completion: .directory
    )
    var files: [String] = []

    @Option(
        help: ArgumentHelp(
            "A Keel server to check, such as http://127.0.0.1:8080; can be repeated.",
            valueName: "url"
        )
    )
    var server: [String] = []

    @Flag(help: CommandOutput.jsonHelp)
    var json = false

    func validate() throws {
        for text in server where URL(string: text)?.host?.isEmpty != false {
            throw ValidationError("--server must be a URL such as http://127.0.0.1:8080.")
        }
    }

    func run() async throws {
        let output = CommandOutput(isJSON: json)
        let transport = AsyncHTTPClientTransport()
        try await output.reporting {
            var isFine = true
            for check in checks(transport) {
                for finding in await check.findings() {
                    isFine = isFine && finding.state == .good
                    try output.show(finding)
                }
            }
            await transport.shutdown()
            return isFine ? .done : .findings
        }
    }

    private func checks(
        _ transport: AsyncHTTPClientTransport
    ) -> [any DoctorCheck] {
        let folders =
            [URL.homeDirectory]
            + storage.compactMap { place -> URL? in
                guard case .sqlite(let path)? = DocumentPlace(place) else { return nil }
                return URL(filePath: path).deletingLastPathComponent()
            }
            + files.map { URL(filePath: $0) }
        var seen: Set<String> = []
        let existing = folders.map(Self.existing).filter { seen.insert($0.path).inserted }
        var checks: [any DoctorCheck] = [
            MachineCheck(folders: existing), ClockCheck(), KeyringCheck(),
        ]
        for place in storage {
            if case .server(let address)? = DocumentPlace(place) {
                checks.append(ServerCheck(address, over: transport))
            } else {
                checks.append(
                    StoreCheck(place, allowsUnverifiedServers: database.unverifiedDatabase)
                )
            }
        }
        checks += files.map(FolderCheck.init)
        for address in server.compactMap(URL.init(string:)) {
            checks.append(ServerCheck(address, over: transport))
        }
        return checks
    }

    /// The folder, or its nearest existing parent, which is on the same volume.
    private static func existing(_ folder: URL) -> URL {
        var folder = folder.standardizedFileURL
        while folder.path != "/", !FileManager.default.fileExists(atPath: folder.path) {
            folder.deleteLastPathComponent()
        }
        return folder
    }
}

extension CommandOutput {
    func show(_ finding: DoctorFinding) throws {
        guard !isJSON else { return try record(finding) }
        let mark =
            switch finding.state {
            case .good: "ok     "
            case .warning: "warning"
            case .problem: "problem"
            }
        try line("\(mark)  \(finding.subject): \(finding.detail)")
        if let advice = finding.advice { try line("         \(advice)") }
    }
}
