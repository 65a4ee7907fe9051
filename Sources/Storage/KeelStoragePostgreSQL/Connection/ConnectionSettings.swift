#if PostgreSQL
internal import CLibPQ
internal import Foundation
internal import KeelStorageAdapting

/// The parameters of connections to a database, by their names, for each host.
struct ConnectionSettings: Sendable {
    typealias Parameters = [String: String]

    /// In the order in which they are tried.
    let hosts: [Parameters]
    /// Shared, like the next two, by all connections with these settings.
    let lineage = ServerLineage()
    let silent = SilentHosts()
    let lookups = HostLookups()
    /// The time limit of the lookups of names, and of an attempt to connect to one address.
    let attemptLimit: Duration

    private static let multiple = ["host", "hostaddr", "port"]

    /// The parameters that the URL may replace; environment variables of libpq do not.
    private static let defaults = [
        "application_name": "keel",
        "client_encoding": "UTF8",
        "connect_timeout": "5",
        "keepalives_count": "3",
        "keepalives_idle": "10",
        "keepalives_interval": "5",
        "target_session_attrs": "read-write",
        "tcp_user_timeout": "10000",
    ]

    /// - Throws: `StorageError/Code/invalidArgument` for an address that libpq does not understand or with different
    ///   numbers of hosts and ports, and for a server over a network that need not prove its name.
    init(
        _ location: PostgreSQLStorageLocation,
        allowsUnverifiedServers: Bool
    ) throws(StorageError) {
        let given = try Self.parsed(location.address)
        let complete = Self.defaults.merging(given) { $1 }
        // For hosts, ports and `sslmode`, libpq's environment variables count as given.
        let known = Self.environment()
        let common = complete.filter { !Self.multiple.contains($0.key) }
        func list(_ name: String) -> [String] {
            (given[name] ?? known[name])?
                .split(separator: ",", omittingEmptySubsequences: false).map(String.init) ?? []
        }
        let (names, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        let count = max(names.count, addresses.count, 1)
        guard [names.count, addresses.count].allSatisfy({ $0 == 0 || $0 == count }),
            ports.count < 2 || ports.count == count
        else {
            throw StorageError(
                .invalidArgument,
                "the PostgreSQL URL has not as many ports or addresses as hosts"
            )
        }
        var hosts: [Parameters] = []
        for position in 0..<count {
            var parameters = common
            if !names.isEmpty { parameters["host"] = names[position] }
            if !addresses.isEmpty { parameters["hostaddr"] = addresses[position] }
            if !ports.isEmpty { parameters["port"] = ports[ports.count == 1 ? 0 : position] }
            let mode = given["sslmode"] ?? known["sslmode"]
            if !Self.isLocal(parameters), !allowsUnverifiedServers {
                guard mode == nil || mode == "verify-full" else {
                    throw StorageError(
                        .invalidArgument,
                        "sslmode=\(mode ?? "") does not verify the name of a PostgreSQL server over a network; "
                            + "use sslmode=verify-full, or set allowsUnverifiedServers"
                    )
                }
                parameters["sslmode"] = "verify-full"
            }
            hosts.append(parameters)
        }
        self.hosts = hosts
        // To libpq, zero and less mean the same as no value.
        let limit = complete["connect_timeout"].flatMap { Int64($0) } ?? 0
        attemptLimit = .seconds(limit > 0 ? limit : 5)
    }

    init(hosts: [Parameters], attemptLimit: Duration) {
        self.hosts = hosts
        self.attemptLimit = attemptLimit
    }

    /// Returns the settings of connections to standbys; nil if there is only one host.
    ///
    /// The hosts are in a random order, so that several adapters use several standbys.
    func forStandbys() -> Self? {
        guard hosts.count > 1 else { return nil }
        let hosts = hosts.map { $0.merging(["target_session_attrs": "standby"]) { $1 } }
        return Self(hosts: hosts.shuffled(), attemptLimit: attemptLimit)
    }

    var description: String {
        let hosts = hosts.map { parameters in
            let name = parameters["host"] ?? parameters["hostaddr"] ?? "localhost"
            return parameters["port"].map { "\(name):\($0)" } ?? name
        }
        let database = self.hosts.first?["dbname"].map { "/\($0)" } ?? ""
        return "postgres://\(hosts.joined(separator: ","))\(database)"
    }

    /// Returns whether a host is this machine, by a Unix socket or a loopback address.
    static func isLocal(_ parameters: Parameters) -> Bool {
        // The service file of libpq may name any host, and libpq reads it only when it connects.
        guard parameters["service"] == nil else { return false }
        guard let name = parameters["hostaddr"] ?? parameters["host"], !name.isEmpty else {
            return true
        }
        return name.hasPrefix("/") || name.hasPrefix("@") || name == "localhost" || name == "::1"
            || name.hasPrefix("127.") && name.allSatisfy { $0.isNumber || $0 == "." }
    }

    private static func parsed(_ address: String) throws(StorageError) -> Parameters {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(address, &message) else {
            // libpq's message may quote the address, which may contain a password.
            PQfreemem(message)
            throw StorageError(
                .invalidArgument,
                "the PostgreSQL URL cannot be read; it has the form postgres://user@host/database"
            )
        }
        defer { PQconninfoFree(options) }
        return values(options)
    }

    private static func environment() -> Parameters {
        guard let options = PQconndefaults() else { return [:] }
        defer { PQconninfoFree(options) }
        // `sslmode` always has a default, which is not a choice of the caller.
        return values(options).filter {
            $0.key != "sslmode" || ProcessInfo.processInfo.environment["PGSSLMODE"] != nil
        }
    }

    private static func values(_ options: UnsafeMutablePointer<PQconninfoOption>) -> Parameters {
        var values: Parameters = [:]
        var next = options
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val {
                values[String(cString: keyword)] = String(cString: value)
            }
            next += 1
        }
        return values
    }
}
#endif
