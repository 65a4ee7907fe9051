#if PostgreSQL
internal import KeelDocumentTools
internal import KeelStoragePostgreSQL

/// Examines a PostgreSQL database: its hosts, settings, sessions, standbys, tables and change log.
package struct DatabaseCheck: DoctorCheck {
    private let url: String
    private let allowsUnverifiedServers: Bool

    /// - Parameters:
    ///   - url: The URL of the database; its parameter `store` may name the store.
    ///   - allowsUnverifiedServers: Whether a server on another machine need not prove its name.
    package init(_ url: String, allowsUnverifiedServers: Bool) {
        self.url = url
        self.allowsUnverifiedServers = allowsUnverifiedServers
    }

    package func findings() async -> [DoctorFinding] {
        var configuration = PostgreSQLStorageAdapter.Configuration.fromEnvironment
        if allowsUnverifiedServers { configuration.allowsUnverifiedServers = true }
        let address = StoreAddress(url)
        configuration.store = address.store
        let findings = await PostgreSQLStorageAdapter.examine(
            .url(address.url),
            configuration: configuration
        )
        return findings.map { finding in
            let advice = finding.advice ?? ""
            return switch finding.state {
            case .good: .good(finding.subject, finding.detail)
            case .warning: .warning(finding.subject, finding.detail, advice: advice)
            case .problem: .problem(finding.subject, finding.detail, advice: advice)
            }
        }
    }
}
#endif
