internal import KeelRepositories
internal import RestaurantsDomain

extension RestaurantDTO: DomainConvertible {
    func toDomain() throws(MappingError) -> Restaurant {
        let fields = FieldMapper(of: id)
        return Restaurant(
            id: try fields.restaurantID(id, "id"),
            name: try fields.required(name, "name"),
            cuisine: try fields.required(cuisine, "cuisine"),
            rating: try fields.optional.number(rating, "rating", in: Restaurant.ratingRange),
            priceLevel: try fields.optional.value(
                priceLevel,
                "price_level",
                expecting: "a level from 1 to 4"
            ) {
                PriceLevel($0)
            },
            address: try fields.required(address, "address"),
            borough: fields.optional.text(borough),
            location: try location(fields),
            imageURL: try fields.optional.url(imageURL, "image_url"),
            phoneNumber: fields.optional.text(phoneNumber),
            website: try fields.optional.url(website, "website"),
            openingHours: openingHours ?? [],
            grades: try fields.optional.list(grades, "grades")
        )
    }

    /// Returns the place; nil if the service has none.
    ///
    /// Half a place is an error.
    private func location(_ fields: FieldMapper) throws(MappingError) -> Coordinate? {
        if latitude == nil, longitude == nil { return nil }
        let longitude = try fields.number(longitude, "lng", in: -180...180)
        return try fields.value(latitude, "lat", expecting: "a place on the globe") {
            Coordinate(latitude: $0, longitude: longitude)
        }
    }
}

extension GradeDTO: DomainConvertible {
    func toDomain() throws(MappingError) -> Grade {
        let fields = FieldMapper()
        return Grade(
            date: try fields.date(date, "date"),
            mark: try fields.oneOf(grade, "grade"),
            score: try fields.required(score, "score")
        )
    }
}

extension FieldMapper {
    /// The id of a restaurant, which the domain validates.
    func restaurantID(_ text: String?, _ field: String) throws(MappingError) -> RestaurantID {
        try value(text, field) { try RestaurantID($0) }
    }

    /// The id of a user, which the domain validates.
    func userID(_ text: String?, _ field: String) throws(MappingError) -> UserID {
        try value(text, field) { try UserID($0) }
    }
}
