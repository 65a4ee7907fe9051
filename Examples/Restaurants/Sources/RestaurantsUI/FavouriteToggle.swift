internal import RestaurantsDomain

/// Changes a favourite, first on the screen and then in the store.
struct FavouriteToggle: Sendable {
    let useCase: ToggleFavourite

    /// Adds or removes a favourite.
    ///
    /// - Returns: The failure, after which the screen reverts the change; nil after a success.
    func set(
        _ isFavourite: Bool,
        _ id: RestaurantID,
        for user: UserID
    ) async -> DomainError? {
        do throws(DomainError) {
            if isFavourite {
                try await useCase.add(id, for: user)
            } else {
                try await useCase.remove(id, for: user)
            }
            return nil
        } catch {
            return error
        }
    }
}
