#if PostgreSQL
internal import Foundation
package import KeelStoragePostgreSQL
internal import KeelStorage
internal import KeelToolSupport

extension PostgreSQLStorageAdapter {
    /// Opens a store in a PostgreSQL database.
    ///
    /// Only the access `creating` creates a missing store. The URL may name the store: ``StoreAddress``.
    ///
    /// - Throws: `ToolError` if the server, the role or the store is the reason, otherwise `StorageError`.
    package static func opened(
        at url: String,
        for access: StoreAccess,
        _ configure: (inout Configuration) -> Void = { _ in }
    ) async throws -> PostgreSQLStorageAdapter {
        var configuration = Configuration.fromEnvironment
        let address = StoreAddress(url)
        configuration.store = address.store
        configuration.createsStore = access == .creating
        configure(&configuration)
        let location = PostgreSQLStorageLocation.url(address.url)
        do throws(StorageError) {
            return try await PostgreSQLStorageAdapter(at: location, configuration: configuration)
        } catch {
            throw DatabaseFailureReport(error, at: location.description).error
        }
    }
}

extension PostgreSQLStorageAdapter {
    /// Creates or completes the tables of a database, or only returns the statements.
    ///
    /// - Throws: `ToolError` if the server or the role is the reason, otherwise `StorageError`.
    package static func migrated(
        at url: String,
        allowsUnverifiedServers: Bool,
        isDryRun: Bool
    ) async throws -> Migration {
        var configuration = Configuration.fromEnvironment
        let address = StoreAddress(url)
        configuration.store = address.store
        if allowsUnverifiedServers { configuration.allowsUnverifiedServers = true }
        let location = PostgreSQLStorageLocation.url(address.url)
        do throws(StorageError) {
            return try await migrate(location, configuration: configuration, isDryRun: isDryRun)
        } catch {
            throw DatabaseFailureReport(error, at: location.description).error
        }
    }
}

extension PostgreSQLStorageAdapter.Configuration {
    /// The default settings, with that of the variable `KEEL_UNVERIFIED_DATABASE`.
    package static var fromEnvironment: Self {
        var configuration = Self()
        configuration.allowsUnverifiedServers =
            ProcessInfo.processInfo.environment["KEEL_UNVERIFIED_DATABASE"] == "true"
        return configuration
    }
}

/// Turns the failure to open a database into an error with advice.
private struct DatabaseFailureReport {
    let error: any Error

    init(_ failure: StorageError, at server: String) {
        // The text of libpq and of the server, which names hosts, roles and databases, but has no passwords.
        let text = failure.cause.map { "\($0)" } ?? ""
        func reports(_ state: String) -> Bool { text.contains("SQLSTATE \(state)") }
        // libpq reports each attempt: over several addresses, with encryption and without.
        let lines = text.split(separator: "; ")
        let telling = ["FATAL:", "certificate", "channel binding", "SSL"].lazy
            .compactMap { word in lines.first { $0.contains(word) } }.first
        let line = telling ?? lines.first ?? failure.message[...]
        let detail =
            line.split(separator: " (SQLSTATE").first?.split(separator: ": ").last.map(String.init)
            ?? failure.message
        let database = server.split(separator: "/").dropFirst().last.map(String.init) ?? ""
        error =
            switch failure.code {
            case .invalidArgument where reports("3D000"):
                ToolError(
                    "the PostgreSQL server has no database “\(database)”",
                    advice: "Create it with createdb, or correct the URL."
                )
            case .invalidArgument where failure.message.contains("has no Keel store"):
                ToolError(
                    "\(server): \(failure.message)",
                    advice: "Correct the URL; keel serve, import, set and copy create one."
                )
            case .invalidArgument where failure.message.contains("allowsUnverifiedServers"):
                ToolError(
                    failure.message.replacing(
                        "set allowsUnverifiedServers",
                        with: "set KEEL_UNVERIFIED_DATABASE=true"
                    ),
                    advice: "Add sslmode=verify-full&sslrootcert=FILE to the URL, with the "
                        + "certificate of the server’s authority."
                )
            case .unauthenticated where reports("28P01"):
                ToolError(
                    "\(server) refused the password: \(detail)",
                    advice: "Set PGPASSWORD, or add the password to ~/.pgpass."
                )
            case .unauthenticated where text.contains("channel binding"):
                ToolError(
                    "\(server) does not prove that it knows the password: \(detail)",
                    advice: "Require scram-sha-256 in its pg_hba.conf and set the password of the "
                        + "role again, with password_encryption=scram-sha-256, or remove "
                        + "channel_binding=require from the URL."
                )
            case .unauthenticated
            where text.contains("no encryption") && !text.contains("SSL encryption"):
                ToolError(
                    "\(server) accepts only encrypted connections",
                    advice: "Add sslmode=verify-full&sslrootcert=FILE to the URL."
                )
            case .unauthenticated:
                ToolError(
                    "\(server) refused the role: \(detail)",
                    advice: "Create the role with createuser, or allow it in the server’s "
                        + "pg_hba.conf."
                )
            case .permissionDenied:
                ToolError(
                    "the role lacks a right that Keel needs in \(server): \(detail)",
                    advice: "GRANT CREATE ON DATABASE … TO … lets it create Keel’s schema, once."
                )
            case .unavailable where text.contains("does not support SSL"):
                ToolError(
                    "\(server) does not encrypt connections",
                    advice: "Turn “ssl” on in its configuration; in a network that you trust, add "
                        + "sslmode=disable to the URL and set KEEL_UNVERIFIED_DATABASE=true."
                )
            case .unavailable where text.contains("does not match host name"):
                ToolError(
                    "the certificate of \(server) cannot be verified: \(detail)",
                    advice: "Correct the host of the URL, or give the server a certificate for "
                        + "this name."
                )
            case .unavailable where text.contains("certificate"):
                ToolError(
                    "the certificate of \(server) cannot be verified: \(detail)",
                    advice: "Let sslrootcert=FILE in the URL name the certificate of its "
                        + "authority; if the server’s certificate has expired, renew it."
                )
            case .unavailable:
                ToolError(
                    "\(server) cannot be reached: \(detail)",
                    advice: "Start the server, or correct the host and the port of the URL."
                )
            default: failure
            }
    }
}

/// The URL of a database, whose parameter `store` may name the store.
package struct StoreAddress {
    /// The URL for libpq, without the parameter.
    package let url: String
    /// The name of the store; `default` if the URL names none.
    package let store: String

    package init(_ text: String) {
        let mark = text.lastIndex(of: "?") ?? text.endIndex
        let items = text[mark...].dropFirst().split(separator: "&")
        let rest = items.filter { !$0.hasPrefix("store=") }
        guard rest.count < items.count else {
            (url, store) = (text, "default")
            return
        }
        url = String(text[..<mark]) + (rest.isEmpty ? "" : "?" + rest.joined(separator: "&"))
        let name = items.last { $0.hasPrefix("store=") }?.dropFirst("store=".count) ?? ""
        store = String(name).removingPercentEncoding ?? String(name)
    }
}
#endif
