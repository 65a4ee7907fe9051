internal import Foundation
internal import KeelHTTP
internal import KeelStorage
internal import RestaurantsDomain

/// Why a data source failed, with the error underneath.
///
/// It is one link of a chain that nobody cuts: transport or store → data source → domain.
enum DataSourceError: Error, Sendable {
    /// The service, or the way to it.
    case remote(NetworkError)
    /// The session of the user who is signed in.
    case session(AuthenticationError)
    /// The store on this device.
    case local(StorageError)
    /// What was read is nothing that the domain knows.
    case unmappable(MappingFailure)

    /// Whether nobody answered: the one failure after which what is kept is as good as it gets.
    var isUnreachable: Bool {
        guard case .remote(let error) = self else { return false }
        return error.meaning == .sourceUnreachable
    }

    /// Whether the service says that there is no such thing.
    var isNotFound: Bool {
        guard case .remote(let error) = self else { return false }
        return error.code == .notFound
    }

    /// Whether the service refuses the credentials that it was given.
    var isUnauthorized: Bool {
        guard case .remote(let error) = self else { return false }
        return error.code == .unauthorized
    }
}

extension DataSourceError: CustomStringConvertible {
    /// What the error underneath says of itself, on one line.
    var description: String {
        switch self {
        case .remote(let error): "\(error)"
        case .session(let error): "\(error)"
        case .local(let error): "\(error)"
        case .unmappable(let failure): failure.localizedDescription
        }
    }
}
