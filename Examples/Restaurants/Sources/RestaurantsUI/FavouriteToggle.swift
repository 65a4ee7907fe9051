internal import RestaurantsDomain

/// Changes a favourite at once on the screen and then for good.
struct FavouriteToggle: Sendable {
    let useCase: ToggleFavourite

    /// Makes a restaurant a favourite, or ends that.
    ///
    /// - Returns: Why the change was refused, so that the screen undoes it; nil if it succeeded.
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
