#if PostgreSQL
internal import CLibPQ
internal import KeelStorageAdapting

extension PostgreSQLStorageAdapter {
    /// Examines a database for an operator: hosts, settings, transactions, standbys, tables and the change log.
    ///
    /// The call changes nothing, and needs no store in the database. If no host accepts writes, only the hosts are
    /// examined. Findings report parts that cannot be examined, and a role without `pg_monitor`, which some parts need.
    ///
    /// - Parameters:
    ///   - location: The address of the database.
    ///   - configuration: The settings of the adapters that use the database.
    /// - Returns: The findings, those of the hosts first.
    public static func examine(
        _ location: PostgreSQLStorageLocation,
        configuration: Configuration = Configuration()
    ) async -> [Finding] {
        let settings: ConnectionSettings
        do throws(StorageError) {
            settings = try ConnectionSettings(
                location,
                allowsUnverifiedServers: configuration.allowsUnverifiedServers
            )
        } catch {
            return [.problem("URL", error.message, advice: error.code.advice)]
        }
        var hosts: [HostExamination] = []
        for host in settings.separate { hosts.append(await HostExamination(host)) }
        var findings = HostExamination.findings(of: hosts)
        guard let primary = hosts.first(where: \.isPrimary) else { return findings }
        do throws(StorageError) {
            findings += try await ConnectionThread.during(
                "keel.postgresql.examination",
                primary.settings,
                answerLimit: configuration.answerTimeout
            ) { connection in
                DatabaseExamination(connection: connection, configuration: configuration)
                    .findings()
            }
        } catch {
            findings.append(.problem("database", error.message, advice: error.code.advice))
        }
        return findings
    }
}

private struct HostExamination: Sendable {
    private struct Facts: Sendable {
        var version = ""
        var isStandby = false
        /// How far a standby is behind, in microseconds; nil if it has replayed what it has received.
        var lag: Int64?
        var timeline: Int64?
        var encryption: String?
        var isDirect = true
    }

    let settings: ConnectionSettings
    private let facts: Result<Facts, StorageError>

    var isPrimary: Bool { (try? facts.get())?.isStandby == false }

    init(_ settings: ConnectionSettings) async {
        self.settings = settings
        do throws(StorageError) {
            let facts = try await ConnectionThread.during(
                "keel.postgresql.host",
                settings,
                answerLimit: .seconds(10)
            ) { try Self.facts(of: $0) }
            self.facts = .success(facts)
        } catch {
            facts = .failure(error)
        }
    }

    private static func facts(of connection: DatabaseConnection) throws -> Facts {
        let rows = try connection.run([
            DatabaseStatement(
                """
                SELECT split_part(current_setting('server_version'), ' ', 1), pg_is_in_recovery(),
                    CASE WHEN pg_is_in_recovery() AND pg_last_wal_receive_lsn() IS DISTINCT FROM pg_last_wal_replay_lsn()
                    THEN (extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000000)::bigint END
                """
            ), DatabaseStatement("SELECT \(DatabaseConnection.timeline)"),
        ])
        guard let row = rows[0].first else { throw DatabaseFailure.lost("the server said nothing") }
        var facts = Facts()
        facts.version = row.text(0)
        facts.isStandby = row.boolean(1)
        facts.lag = row.optional(2)
        facts.timeline = DatabaseConnection.timeline(rows[1].first, 0)
        facts.isDirect = connection.isDirect
        if let handle = connection.handle, PQsslInUse(handle) == 1 {
            facts.encryption =
                PQsslAttribute(handle, "protocol").map { String(cString: $0) } ?? "TLS"
        }
        return facts
    }

    static func findings(of hosts: [Self]) -> [PostgreSQLStorageAdapter.Finding] {
        let primaries = hosts.filter(\.isPrimary)
        var findings = hosts.map { $0.finding(isReplaced: !primaries.isEmpty) }
        if primaries.isEmpty, hosts.contains(where: { (try? $0.facts.get()) != nil }) {
            findings.append(
                .problem(
                    "primary",
                    "No host accepts writes; the hosts that answer are standbys.",
                    advice: "Promote one of them (pg_ctl promote), or name the primary in the URL."
                )
            )
        }
        let timelines = Set(primaries.compactMap { try? $0.facts.get().timeline })
        if primaries.count > 1 {
            findings.append(
                .problem(
                    "primary",
                    "\(primaries.count) hosts accept writes, on the timelines "
                        + timelines.sorted().map { "\($0)" }.joined(separator: ", ") + ".",
                    advice: "Stop the one that was left behind by the failover, the one with the "
                        + "lower timeline, and rebuild it as a standby (pg_rewind or pg_basebackup)."
                )
            )
        }
        return findings
    }

    /// Returns the finding of the host, only a warning if another host is the primary.
    private func finding(isReplaced: Bool) -> PostgreSQLStorageAdapter.Finding {
        let parameters = settings.hosts.first ?? [:]
        let name = parameters["host"] ?? parameters["hostaddr"] ?? "localhost"
        let subject = "host " + (parameters["port"].map { "\(name):\($0)" } ?? name)
        switch facts {
        case .failure(let error):
            let reason = (error.cause as? DatabaseFailure).map { ": \($0)" } ?? ""
            let detail = "It cannot be used: \(error.message)\(reason)"
            guard isReplaced else {
                return .problem(subject, detail, advice: error.code.advice)
            }
            return .warning(
                subject,
                detail,
                advice:
                    "Start it, or remove it from the URL: after a failover, clients try it first."
            )
        case .success(let facts):
            var parts = ["PostgreSQL \(facts.version)"]
            if facts.isStandby {
                let lag = facts.lag.map { "\(Shown.duration($0)) behind" } ?? "caught up"
                parts.append("standby, \(lag)")
            } else {
                parts.append("primary" + (facts.timeline.map { ", timeline \($0)" } ?? ""))
            }
            parts.append(facts.encryption ?? "not encrypted")
            if !facts.isDirect { parts.append("behind a pooler") }
            let detail = parts.joined(separator: ", ")
            guard facts.encryption == nil, !ConnectionSettings.isLocal(parameters) else {
                return .good(subject, detail)
            }
            return .warning(
                subject,
                detail,
                advice: "Turn on “ssl” in the server’s configuration, and add "
                    + "sslmode=verify-full&sslrootcert=FILE to the URL."
            )
        }
    }
}

extension ConnectionSettings {
    /// Settings for each host alone, whether it accepts writes or not.
    fileprivate var separate: [ConnectionSettings] {
        hosts.map { host in
            var parameters = host
            parameters["target_session_attrs"] = "any"
            return ConnectionSettings(hosts: [parameters], attemptLimit: attemptLimit)
        }
    }
}
#endif
