package import Foundation
internal import KeelToolSupport

/// Where documents are, as a command line names it.
package enum DocumentPlace: Hashable, Sendable {
    /// An SQLite file of Keel.
    case sqlite(path: String)
    /// A PostgreSQL database, at a URL that may contain a password.
    case postgreSQL(url: String)
    /// A Keel server.
    case server(URL)
    /// A project of Google's Firestore.
    case firestore(project: String)

    /// Reads a place: a path, `sqlite:PATH`, `postgres://…`, `http://…`, `https://…` or `firestore:PROJECT`.
    ///
    /// It is none where nothing follows the prefix, or an address has no host. `memory` is none either: only a server
    /// can keep documents there, and a file of this name is `./memory`.
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
            guard !text.isEmpty, text != "memory" else { return nil }
            self = .sqlite(path: text)
        }
    }
}

extension DocumentPlace: CustomStringConvertible {
    /// The place without passwords.
    package var description: String { Passwords.hidden(in: argument) }

    /// The text that names the place on a command line, with its password if it has one.
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
    /// What follows a prefix, nil where the text does not begin with it.
    fileprivate func rest(after prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
