import Keel
import KeelHTTPAuthentication
import KeelTestKit

// Examples from the articles about errors and about memory of repositories; compiled but not run,
// see `ArticleExamples`.

private enum DomainError: Error {
    case offline
    case noSuchThing
    case failed
}

private struct RestaurantID {
    var text: String
}

private struct Restaurant: Codable, Identifiable, Sendable {
    var id: String
}

extension DomainError {
    init(_ error: RepositoryError) {
        self = error.mapped(to: [.unreachable: .offline, .notFound: .noSuchThing], else: .failed)
    }
}

private struct Restaurants {
    let restaurants: EntityRepository<Restaurant>

    func restaurant(_ id: RestaurantID) async throws(DomainError) -> Restaurant {
        try await RepositoryError.mapped(to: DomainError.init) {
            try await restaurants.entity(id.text)
        }
    }
}

private func forgetAtSignOut(_ session: AuthSession<BearerCredentials>, _ memory: ResourceMemory) {
    session.onSignOut("memory") { _ in await memory.removeAll() }
}
