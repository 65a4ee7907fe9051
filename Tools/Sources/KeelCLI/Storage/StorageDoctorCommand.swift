import ArgumentParser
import KeelDoctorTools
import KeelDocumentTools
import KeelToolSupport

struct StorageDoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Examines a database and a store in it, and recommends remedies.",
        discussion: """
            Of a database: the hosts and which one is the primary, encryption, poolers, rights, \
            settings, connections, the oldest transaction, standbys and their lag, the version and \
            the sizes of the tables, indexes, the change log and its readers. Reads no documents; keel \
            storage verify does. A file is checked as keel doctor does. Changes nothing.

            Exits with 2 if there is something to do, with 0 otherwise.
            """
    )

    @OptionGroup
    var place: StoragePlaceOptions

    func run() async throws {
        let output = CommandOutput(isJSON: place.json)
        try await output.reporting {
            var isFine = true
            for finding in try await check().findings() {
                isFine = isFine && finding.state == .good
                try output.show(finding)
            }
            return isFine ? .done : .findings
        }
    }

    private func check() throws -> any DoctorCheck {
        let store = try place.store
        switch store {
        case .sqlite: return StoreCheck(store.argument)
        case .postgreSQL(let url):
            #if PostgreSQL
            return DatabaseCheck(url, allowsUnverifiedServers: place.database.unverifiedDatabase)
            #else
            _ = url
            throw ToolError.lacksPostgreSQL
            #endif
        case .server, .firestore:
            throw ValidationError("doctor needs a file or a database.")
        }
    }
}
