package import Foundation
internal import KeelToolSupport

/// A place of documents on a command line.
package enum DocumentPlace: Hashable, Sendable {
    /// An SQLite file of Keel.
    case sqlite(path: String)
    /// A PostgreSQL database, at a URL that may contain a password.
    case postgreSQL(url: String)
    /// A Keel server.
    case server(URL)
    /// A project of Google's Firestore.
    case firestore(project: String)

    /// Parses a path, `sqlite:PATH`, `postgres://…`, `http://…`, `https://…` or `firestore:PROJECT`.
    ///
    /// Returns nil for another text, a server's address without a host, and an invalid project. A path begins with `/`
    /// or `.`, or has a `.` or `/` and neither `:` nor `@`; other files need `sqlite:`.
    package init?(_ text: String) {
        if let path = text.rest(after: "sqlite:") {
            guard !path.isEmpty else { return nil }
            self = .sqlite(path: path)
        } else if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            self = .postgreSQL(url: text)
        } else if let project = text.rest(after: "firestore:") {
            guard !project.isEmpty, !project.contains("/") else { return nil }
            self = .firestore(project: project)
        } else if text.rest(after: "http://") != nil || text.rest(after: "https://") != nil {
            guard let url = URL(string: text), url.host?.isEmpty == false else { return nil }
            self = .server(url)
        } else {
            guard Self.isPath(text) else { return nil }
            self = .sqlite(path: text)
        }
    }

    private static func isPath(_ text: String) -> Bool {
        if text.hasPrefix("/") || text.hasPrefix(".") { return true }
        return text.contains(where: { "./".contains($0) })
            && !text.contains(where: { ":@".contains($0) })
    }
}

extension DocumentPlace: CustomStringConvertible {
    /// The place without passwords.
    package var description: String { Passwords.hidden(in: argument) }

    /// The description, with an absolute path for a file.
    package var identity: String {
        guard case .sqlite(let path) = self else { return description }
        return "sqlite:\(URL(fileURLWithPath: path).standardizedFileURL.path)"
    }

    /// The file of an SQLite store and those that SQLite keeps beside it; empty for another store.
    package var files: [URL] {
        guard case .sqlite(let path) = self else { return [] }
        // SQLite keeps them beside the file to which a link leads.
        let store = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        return ["", "-wal", "-shm", "-journal"].map { URL(fileURLWithPath: store + $0) }
    }

    /// Returns whether another place is the same SQLite file, also by another path, or has the same project or address.
    ///
    /// The role, the password and the options of a connection do not distinguish addresses; two names of a host do.
    package func isSameStore(as other: Self) -> Bool {
        guard case .sqlite(let path) = self, case .sqlite(let second) = other else {
            return address == other.address
        }
        return SeparateFiles.areOne(URL(fileURLWithPath: path), URL(fileURLWithPath: second))
    }

    /// The parts of the argument that select a store, each in one spelling.
    private var address: [String?] {
        guard let url = URLComponents(string: argument), let scheme = url.scheme else {
            return [argument]
        }
        let host = url.host?.lowercased() ?? ""
        let path = url.path.split(separator: "/").joined(separator: "/")
        guard case .postgreSQL = self else {
            let port = url.port ?? ["http": 80, "https": 443][scheme]
            return [scheme, host, port.map(String.init), path]
        }
        // Parameters take precedence over the parts before them, as in libpq.
        var parts = ["host": host, "port": "\(url.port ?? 5432)", "store": "default"]
        parts["user"] = url.user
        parts["dbname"] = path.isEmpty ? nil : path
        for item in url.queryItems ?? [] { parts[item.name] = item.value }
        parts["dbname"] = parts["dbname"] ?? parts["user"]
        return ["host", "hostaddr", "port", "dbname", "store", "service"].map { parts[$0] }
    }

    /// The text on a command line, with a password in it.
    package var argument: String {
        switch self {
        case .sqlite(let path): "sqlite:\(path)"
        case .postgreSQL(let url): url
        case .server(let url): url.absoluteString
        case .firestore(let project): "firestore:\(project)"
        }
    }
}

extension String {
    fileprivate func rest(after prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
